// SPDX-License-Identifier: Apache-2.0
#include "decode/load.hpp"

#include <algorithm>
#include <optional>

#include "decode/input_error.hpp"
#include "decode/model_load.hpp"
#include "decode/origin_load.hpp"

namespace arcalloc::decode {

namespace {

constexpr std::size_t model_tokens = 64;

void check(const named_load& named, const session_settings& settings) {
  if (settings.tokens == 0) throw input_error{"tokens must be at least 1"};
  const std::string refusal = named.refusal_of(settings.ranks);
  if (!refusal.empty()) throw input_error{refusal};
  if (settings.context <= named.positions_most && settings.tokens <= named.positions_most - settings.context) return;
  throw input_error{"context " + std::to_string(settings.context) + " and tokens " + std::to_string(settings.tokens) +
                    " exceed the " + std::to_string(named.positions_most) + " positions of " + named.name};
}

std::uint64_t sum(std::uint64_t left, std::uint64_t right) {
  std::uint64_t both = 0;
  return __builtin_add_overflow(left, right, &both) ? ARCALLOC_NO_BOUND : both;
}

/// One rank of a run. Made and given back in this order.
struct running_rank {
  running_rank(const load_rank& given, const named_load& named, const session_settings& settings, std::size_t number)
      : on(given),
        tensors(*given.memory, default_stream),
        what(named.make(charged_memory{tensors, *given.time}, settings, number)) {}

  load_rank on;
  tensor_source tensors;
  std::unique_ptr<load> what;
  std::uint64_t busy_ns = 0;  ///< of all steps, before it waited for others
};

/// A load on its cards, step by step.
class load_run {
 public:
  load_run(std::span<const load_rank> ranks, const named_load& named, const session_settings& settings)
      : settings_(settings) {
    for (const load_rank& each : ranks)
      ranks_.push_back(std::make_unique<running_rank>(each, named, settings, ranks_.size()));
  }

  void begin(const std::function<void()>& before_decode) {
    if (settings_.context > 0) enter(phase::prefill);
    for (const auto& rank : ranks_) {
      rank->what->begin(settings_.context);
      // What was loaded is no part of the first step.
      rank->on.time->synchronise();
    }
    if (before_decode) before_decode();
    enter(phase::decode);
    outcome_.at_decode_start = read();
    if (settings_.tokens < 2) outcome_.at_half = outcome_.at_decode_start;
  }

  void make_tokens(const std::function<void(std::size_t)>& after_token) {
    while (outcome_.tokens_done < settings_.tokens) {
      step();
      ++outcome_.tokens_done;
      if (outcome_.tokens_done == settings_.tokens / 2) outcome_.at_half = read();
      after_token(outcome_.tokens_done);
    }
  }

  void refused(status why) { outcome_.outcome = why; }

  /// Frees everything.
  session_outcome finish() {
    outcome_.at_end = read();
    if (outcome_.at_half.size == 0) outcome_.at_half = outcome_.at_end;
    load_report& report = outcome_.load.emplace();
    report.ranks = ranks_.size();
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      running_rank& rank = *ranks_[i];
      report.weight_bytes += rank.what->weight_bytes();
      if (rank.busy_ns > ranks_[report.slowest_rank]->busy_ns) report.slowest_rank = i;
      counters now{};
      rank.on.memory->read_counters(now);
      report.reserved_bytes_peak_most = std::max(report.reserved_bytes_peak_most, now.reserved_bytes_peak);
      rank.what.reset();
      if (outcome_.outcome == status::ok) outcome_.outcome = rank.tensors.first_refused_free();
    }
    report.step_ns_worst = step_ns_worst_;
    if (!driver_ns_.empty()) {
      std::sort(driver_ns_.begin(), driver_ns_.end());
      report.driver_ns_step_worst = driver_ns_.back();
      report.driver_ns_step_p99 = driver_ns_[(driver_ns_.size() * 99 + 99) / 100 - 1];
    }
    return std::move(outcome_);
  }

 private:
  void enter(phase next) {
    for (const auto& rank : ranks_) {
      const status entered = rank->on.memory->begin_phase(next);
      if (entered != status::ok) throw memory_refused{entered};
    }
  }

  void step() {
    std::vector<std::uint64_t> took;
    std::uint64_t driver_ns = 0;
    for (const auto& rank : ranks_) {
      device_timeline& time = *rank->on.time;
      const std::uint64_t began = time.now_ns();
      const std::uint64_t driver_began = rank->on.device->now_ns();
      rank->what->step();
      // The sampled token: the host cannot go on without it.
      time.synchronise();
      rank->on.memory->end_step();
      took.push_back(time.now_ns() - began);
      rank->busy_ns += took.back();
      driver_ns = std::max(driver_ns, rank->on.device->now_ns() - driver_began);
    }
    const std::uint64_t slowest = *std::max_element(took.begin(), took.end());
    for (std::size_t i = 0; i < took.size(); ++i) ranks_[i]->on.time->pass(slowest - took[i]);
    outcome_.decode_seconds += static_cast<double>(slowest) / 1e9;
    step_ns_worst_ = std::max(step_ns_worst_, slowest);
    driver_ns_.push_back(driver_ns);
  }

  /// The sum over the ranks; what says which, and not how many, is the first rank's.
  [[nodiscard]] counters read() const {
    counters all{};
    ranks_.front()->on.memory->read_counters(all);
    std::size_t count = 0;
    const counter_field* fields = counter_fields(count);
    for (std::size_t i = 1; i < ranks_.size(); ++i) {
      counters one{};
      ranks_[i]->on.memory->read_counters(one);
      for (std::size_t field = 0; field < count; ++field) {
        if (fields[field].value == &counters::cap_source) continue;
        all.*fields[field].value = sum(all.*fields[field].value, one.*fields[field].value);
      }
    }
    return all;
  }

  const session_settings& settings_;
  std::vector<std::unique_ptr<running_rank>> ranks_;
  session_outcome outcome_;
  std::uint64_t step_ns_worst_ = 0;
  std::vector<std::uint64_t> driver_ns_;
};

std::vector<named_load> make_named_loads() {
  std::vector<named_load> all;
  all.push_back({"origin-v4", 2600, 1'000'000,
                 [](const charged_memory& memory, const session_settings&, std::size_t) -> std::unique_ptr<load> {
                   return std::make_unique<origin_load>(memory);
                 },
                 [](std::size_t ranks) { return ranks == 1 ? "" : "origin-v4 runs on one rank"; }});
  for (const model_shape& model : model_shapes()) {
    all.push_back({model.name, model_tokens, model.positions,
                   [&model](const charged_memory& memory, const session_settings& settings,
                            std::size_t rank) -> std::unique_ptr<load> {
                     return std::make_unique<model_load>(memory, model, model_share{settings.ranks, rank, settings.kv});
                   },
                   [&model](std::size_t ranks) { return division_refusal(model, ranks); }});
  }
  return all;
}

}  // namespace

const std::vector<named_load>& named_loads() {
  static const std::vector<named_load> all = make_named_loads();
  return all;
}

const named_load* find_load(const std::string& name) {
  const auto& all = named_loads();
  const auto found = std::find_if(all.begin(), all.end(), [&](const named_load& each) { return name == each.name; });
  return found == all.end() ? nullptr : &*found;
}

session_outcome run_load(std::span<const load_rank> ranks, const session_settings& settings,
                         const std::function<void()>& before_decode,
                         const std::function<void(std::size_t)>& after_token) {
  const named_load& named = *find_load(settings.config_name);
  check(named, settings);
  load_run run(ranks, named, settings);
  try {
    run.begin(before_decode);
    after_token(0);
    run.make_tokens(after_token);
  } catch (const memory_refused& refusal) {
    run.refused(refusal.outcome);
  }
  return run.finish();
}

}  // namespace arcalloc::decode
