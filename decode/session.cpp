// SPDX-License-Identifier: Apache-2.0
#include "decode/session.hpp"

#include <chrono>
#include <memory>
#include <optional>

#include "decode/configs.hpp"
#include "decode/host_executor.hpp"
#include "decode/kv_cache.hpp"
#include "decode/llama2c.hpp"
#include "decode/model.hpp"
#include "decode/ops.hpp"
#include "decode/tensor.hpp"
#include "decode/tokenizer.hpp"

namespace arcalloc::decode {

namespace {

/// What a run starts from: checked, and nothing of it on the device yet.
struct session_input {
  std::unique_ptr<weight_source> weights;
  std::optional<tokenizer> text;
  std::vector<std::int32_t> prompt{token_of_start};
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

session_input open_input(const session_settings& settings) {
  session_input input;
  if (settings.tokens == 0) throw input_error{"tokens must be at least 1"};
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

void enter(allocator& memory, phase next) {
  const status outcome = memory.begin_phase(next);
  if (outcome != status::ok) throw memory_refused{outcome};
}

/// One run, step by step, writing into its outcome as it goes, so that a refusal at any point leaves
/// what was reached until then.
class session {
 public:
  session(allocator& memory, const session_settings& settings, const session_input& input, session_outcome& outcome)
      : memory_(memory), settings_(settings), input_(input), outcome_(outcome) {}

  void run(const operations& ops, const model& llama, kv_cache& cache,
           const std::function<void(std::size_t)>& after_token) {
    prefill(ops, llama, cache);
    enter(memory_, phase::decode);
    memory_.read_counters(outcome_.at_decode_start);
    note_half();
    after_token(0);
    std::int32_t token = input_.prompt.back();
    while (outcome_.tokens_done < settings_.tokens) {
      const std::int32_t next = step(ops, llama, cache, token);
      if (input_.text && next == token_of_start) return;
      print(token, next);
      token = next;
      outcome_.tokens.push_back(token);
      ++outcome_.tokens_done;
      note_half();
      after_token(outcome_.tokens_done);
    }
  }

  [[nodiscard]] bool half_is_noted() const noexcept { return half_is_noted_; }

 private:
  /// Everything but the prompt's last token, whose logits are the first that are wanted.
  void prefill(const operations& ops, const model& llama, kv_cache& cache) {
    if (input_.prompt.size() > 1 || settings_.context > 0) enter(memory_, phase::prefill);
    cache.fill(ops, settings_.context);
    for (std::size_t i = 0; i + 1 < input_.prompt.size(); ++i) {
      llama.absorb(input_.prompt[i], cache);
      print(input_.prompt[i], input_.prompt[i + 1]);
    }
  }

  std::int32_t step(const operations& ops, const model& llama, kv_cache& cache, std::int32_t token) {
    const auto start = std::chrono::steady_clock::now();
    std::int32_t next = 0;
    {
      const tensor logits = llama.forward(token, cache);
      next = ops.index_of_greatest(logits);
    }
    memory_.end_step();
    outcome_.decode_seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return next;
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
  bool half_is_noted_ = false;
};

}  // namespace

session_outcome run_session(allocator& memory, const session_settings& settings,
                            const std::function<void(std::size_t)>& after_token) {
  const session_input input = open_input(settings);
  session_outcome outcome;
  session steps{memory, settings, input, outcome};
  tensor_source tensors{memory, default_stream};
  host_executor compute;
  const operations ops{tensors, compute};
  {
    // Declared outside the try block, so that the last counters are read while the tensors are there.
    std::optional<model> llama;
    std::optional<kv_cache> cache;
    try {
      llama.emplace(ops, *input.weights);
      cache.emplace(ops, input.weights->config(), settings.kv);
      steps.run(ops, *llama, *cache, after_token);
    } catch (const memory_refused& refusal) {
      outcome.outcome = refusal.outcome;
    }
    memory.read_counters(outcome.at_end);
  }
  if (!steps.half_is_noted()) outcome.at_half = outcome.at_end;
  if (outcome.outcome == status::ok) outcome.outcome = tensors.first_refused_free();
  return outcome;
}

}  // namespace arcalloc::decode
