// SPDX-License-Identifier: Apache-2.0
#include "decode/session.hpp"

#include <algorithm>
#include <memory>
#include <optional>

#include "decode/captured_step.hpp"
#include "decode/configs.hpp"
#include "decode/host_executor.hpp"
#include "decode/kv_cache.hpp"
#include "decode/llama2c.hpp"
#include "decode/model.hpp"
#include "decode/ops.hpp"
#include "decode/recording_executor.hpp"
#include "decode/tensor.hpp"
#include "decode/tokenizer.hpp"

namespace arcalloc::decode {

namespace {

/// What a run starts from: checked, and nothing of it on the device yet.
struct session_input {
  std::unique_ptr<weight_source> weights;
  std::optional<tokenizer> text;
  std::vector<std::int32_t> prompt{token_of_start};
  profile wanted;  ///< from a file
};

void check_positions(const session_settings& settings, std::size_t prompt, std::size_t sequence) {
  // The last token is made, not absorbed; sums cannot wrap, since each term is compared first.
  const std::size_t absorbed = prompt - 1;
  if (settings.context <= sequence && settings.tokens <= sequence &&
      settings.context + absorbed + settings.tokens <= sequence) {
    return;
  }
  throw input_error{"context " + std::to_string(settings.context) + ", prompt " + std::to_string(prompt) +
                    " and tokens " + std::to_string(settings.tokens) + " exceed the model's sequence of " +
                    std::to_string(sequence) + " positions"};
}

void check_capture(const session_settings& settings) {
  if (!settings.capture) {
    if (!settings.prewarm || !settings.profile_path.empty() || !settings.profile_record_path.empty()) {
      throw input_error{"prewarming and profiles are of use only with capture"};
    }
    return;
  }
  if (settings.kv != kv_mode::preallocated) {
    throw input_error{
        "capture needs preallocated key and value caches: with concatenated ones no step is like another"};
  }
  if (settings.tokens < 2) throw input_error{"capture needs 2 tokens at least: one to warm up and one to replay"};
  if (!settings.profile_record_path.empty() && (!settings.prewarm || !settings.profile_path.empty())) {
    throw input_error{settings.profile_record_path +
                      ": no profile is recorded where one is given or there are no warm-up steps"};
  }
}

session_input open_input(const session_settings& settings) {
  session_input input;
  if (settings.tokens == 0) throw input_error{"tokens must be at least 1"};
  check_capture(settings);
  if (!settings.profile_path.empty()) {
    profile_error error{};
    if (read_profile(settings.profile_path.c_str(), input.wanted, error) != status::ok) throw input_error{error.text};
  }
  if (settings.model_path.empty()) {
    if (!settings.tokenizer_path.empty()) {
      throw input_error{settings.tokenizer_path + ": a tokenizer is of use only with a model file"};
    }
    const named_config& named = find_config(settings.config_name);
    if (!settings.prompt.empty()) {
      throw input_error{"a prompt needs a tokenizer, and configuration " + settings.config_name + " has none"};
    }
    input.weights = std::make_unique<seeded_model>(named.config);
  } else {
    if (!settings.config_name.empty()) {
      throw input_error{"a model file (" + settings.model_path + ") and a configuration (" + settings.config_name +
                        ") exclude each other"};
    }
    if (settings.tokenizer_path.empty()) throw input_error{settings.model_path + ": a model file needs a tokenizer"};
    auto model_file = std::make_unique<llama2c_model>(settings.model_path);
    input.text.emplace(settings.tokenizer_path, model_file->config().vocabulary);
    // Encoding is quadratic: a prompt that cannot fit whatever its tokens are is not encoded at all.
    const std::size_t sequence = model_file->config().sequence;
    check_positions(settings, 1 + settings.prompt.size() / input.text->longest_token(), sequence);
    const std::vector<std::int32_t> encoded = input.text->encode(settings.prompt);
    input.prompt.insert(input.prompt.end(), encoded.begin(), encoded.end());
    input.weights = std::move(model_file);
  }
  check_positions(settings, input.prompt.size(), input.weights->config().sequence);
  return input;
}

void enter_phase(allocator& memory, phase next) {
  const status outcome = memory.begin_phase(next);
  if (outcome != status::ok) throw memory_refused{outcome};
}

/// What a run has on the device. Made in this order and given back in the other, so that the graph goes first.
struct device_state {
  std::optional<model> llama;
  std::optional<kv_cache> cache;
  tensor token;  ///< the place of the step's token, where the sampler writes the next one
  std::optional<captured_step> graph;
};

std::uint64_t driver_calls(const counters& c) {
  return c.driver_allocs + c.driver_frees + c.driver_refusals + c.driver_events + c.waits;
}

/// One run, step by step, writing into its outcome as it goes, so that a refusal at any point leaves
/// what was reached until then.
class session {
 public:
  session(allocator& memory, const session_settings& settings, const session_input& input, session_outcome& outcome,
          const std::function<void(std::size_t)>& after_token, const session_device& device)
      : memory_(memory),
        settings_(settings),
        input_(input),
        outcome_(outcome),
        after_token_(after_token),
        device_(device) {}

  void run(const operations& ops, capturing_executor& compute, device_state& state) {
    state.llama.emplace(ops, *input_.weights);
    state.cache.emplace(ops, input_.weights->config(), settings_.kv);
    state.token = ops.index(input_.prompt.front());
    prefill(ops, state);
    if (device_.before_decode) device_.before_decode();
    enter_phase(memory_, phase::decode);
    memory_.read_counters(outcome_.at_decode_start);
    note_half();
    after_token_(0);
    ops.write_index(state.token, input_.prompt.back());
    last_token_ = input_.prompt.back();
    if (settings_.capture) {
      run_captured(ops, compute, state);
    } else {
      make_tokens(settings_.tokens, [&] { return eager_step(ops, state, attention_span::filled); });
    }
  }

  [[nodiscard]] bool half_is_noted() const noexcept { return half_is_noted_; }

 private:
  /// Everything but the prompt's last token, whose logits are the first that are wanted.
  void prefill(const operations& ops, device_state& state) {
    if (input_.prompt.size() > 1 || settings_.context > 0) enter_phase(memory_, phase::prefill);
    state.cache->fill(ops, settings_.context);
    for (std::size_t i = 0; i + 1 < input_.prompt.size(); ++i) {
      ops.write_index(state.token, input_.prompt[i]);
      state.llama->absorb(state.token, *state.cache);
      state.cache->advance(ops);
      print(input_.prompt[i], input_.prompt[i + 1]);
    }
  }

  /// False when the model itself ended the text.
  template <typename Step>
  bool make_tokens(std::size_t until, const Step& step) {
    while (outcome_.tokens_done < until) {
      const std::int32_t next = step();
      if (input_.text && next == token_of_start) return false;
      print(last_token_, next);
      last_token_ = next;
      outcome_.tokens.push_back(next);
      ++outcome_.tokens_done;
      note_half();
      after_token_(outcome_.tokens_done);
    }
    return true;
  }

  /// The device's part of a step: from the token in its place to the next one in the same place.
  static void compute_step(const operations& ops, device_state& state, attention_span span) {
    const tensor logits = state.llama->forward(state.token, *state.cache, span);
    ops.index_of_greatest(logits, state.token);
  }

  /// The whole of a step, on the clock: `device_part`, then the host's.
  template <typename DevicePart>
  std::int32_t timed_step(const operations& ops, device_state& state, const DevicePart& device_part) {
    const std::uint64_t start = ops.now_ns();
    device_part();
    state.cache->advance(ops);
    const std::int32_t next = ops.read_index(state.token);
    memory_.end_step();
    outcome_.decode_seconds += static_cast<double>(ops.now_ns() - start) / 1e9;
    return next;
  }

  std::int32_t eager_step(const operations& ops, device_state& state, attention_span span) {
    return timed_step(ops, state, [&] { compute_step(ops, state, span); });
  }

  /// What the allocator was asked meanwhile is read off its counters, whoever asked.
  std::int32_t replayed_step(const operations& ops, device_state& state, capture_report& report) {
    counters before{};
    counters after{};
    memory_.read_counters(before);
    const std::int32_t next = timed_step(ops, state, [&] {
      const status launched = state.graph->replay();
      if (launched != status::ok) throw memory_refused{launched};
    });
    memory_.read_counters(after);
    ++report.replays;
    report.requests_in_replays += after.requests - before.requests;
    report.driver_calls_in_replays += driver_calls(after) - driver_calls(before);
    return next;
  }

  void run_captured(const operations& ops, capturing_executor& compute, device_state& state) {
    capture_report& report = outcome_.capture.emplace();
    const auto whole_step = [&] { return eager_step(ops, state, attention_span::whole); };
    profile recorded;
    const bool warms_up = settings_.prewarm && settings_.profile_path.empty();
    if (warms_up) {
      profile_recording recording(memory_);
      if (!make_tokens(std::min(warm_up_steps, settings_.tokens - 1), whole_step)) return;
      recording.end(recorded);
      report.warm_up_steps = outcome_.tokens_done;
      keep(recorded);
    }
    cover(memory_, warms_up ? recorded : input_.wanted, settings_.prewarm, report);
    state.graph.emplace(memory_, compute, device_.on);
    report.window = state.graph->record([&] { compute_step(ops, state, attention_span::whole); }, report);
    if (report.window != status::ok) {
      make_tokens(settings_.tokens, whole_step);
      return;
    }
    make_tokens(settings_.tokens, [&] { return replayed_step(ops, state, report); });
  }

  /// A file's profile is on the default stream, whatever the run's is.
  void keep(profile& recorded) const {
    if (settings_.profile_record_path.empty()) return;
    profile_error error{};
    const bool is_named_otherwise = device_.on != default_stream;
    if (is_named_otherwise) recorded.rename_stream(device_.on, default_stream);
    const status written = write_profile(settings_.profile_record_path.c_str(), recorded, error);
    if (is_named_otherwise) recorded.rename_stream(default_stream, device_.on);
    if (written != status::ok) throw input_error{error.text};
  }

  void print(std::int32_t previous, std::int32_t token) {
    if (input_.text) {
      input_.text->append_piece(previous, token, outcome_.text);
    } else {
      if (!outcome_.text.empty()) outcome_.text += ' ';
      outcome_.text += std::to_string(token);
    }
  }

  void note_half() {
    if (half_is_noted_ || outcome_.tokens_done < settings_.tokens / 2) return;
    memory_.read_counters(outcome_.at_half);
    half_is_noted_ = true;
  }

  allocator& memory_;
  const session_settings& settings_;
  const session_input& input_;
  session_outcome& outcome_;
  const std::function<void(std::size_t)>& after_token_;
  const session_device& device_;
  std::int32_t last_token_ = token_of_start;
  bool half_is_noted_ = false;
};

}  // namespace

session_outcome run_session(allocator& memory, const session_settings& settings,
                            const std::function<void(std::size_t)>& after_token, const session_device* device) {
  session_input input = open_input(settings);
  host_executor host;
  const session_device where = device != nullptr ? *device : session_device{host};
  if (where.on != default_stream) input.wanted.rename_stream(default_stream, where.on);
  session_outcome outcome;
  session steps{memory, settings, input, outcome, after_token, where};
  tensor_source tensors{memory, where.on};
  recording_executor recording{where.work};
  capturing_executor& compute = where.capturing != nullptr ? *where.capturing : recording;
  const operations ops{tensors, settings.capture ? static_cast<executor&>(compute) : where.work};
  {
    // Outside the try block, so that the last counters are read while the tensors and the graph are there.
    device_state state;
    try {
      steps.run(ops, compute, state);
    } catch (const memory_refused& refusal) {
      outcome.outcome = refusal.outcome;
    }
    memory.read_counters(outcome.at_end);
    if (state.graph) {
      const status freed = state.graph->give_back();
      if (outcome.outcome == status::ok) outcome.outcome = freed;
    }
  }
  if (!steps.half_is_noted()) outcome.at_half = outcome.at_end;
  if (outcome.outcome == status::ok) outcome.outcome = tensors.first_refused_free();
  return outcome;
}

}  // namespace arcalloc::decode
