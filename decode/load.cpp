// SPDX-License-Identifier: Apache-2.0
#include "decode/load.hpp"

#include <algorithm>
#include <optional>

#include "decode/input_error.hpp"
#include "decode/model_load.hpp"
#include "decode/origin_load.hpp"
#include "decode/serving_load.hpp"
#include "decode/serving_watch.hpp"

namespace arcalloc::decode {

namespace {

constexpr std::size_t model_tokens = 64;

void check(const named_load& named, const session_settings& settings) {
  if (settings.tokens == 0) throw input_error{"tokens must be at least 1"};
  const std::string refusal = named.refusal_of(settings.ranks);
  if (!refusal.empty()) throw input_error{refusal};
  if (settings.layers > named.layers) {
    throw input_error{named.name + " has no " + std::to_string(settings.layers) + " layers to be cut to"};
  }
  if (settings.serving) {
    if (named.layers == 0) throw input_error{named.name + " serves no requests"};
    if (settings.context > 0) throw input_error{"requests bring their own context"};
    return;
  }
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
    // Weights and context go to the driver as they are: no cache is of use to what stays. A server loads its weights in
    // the phase that it is in from the start.
    if (settings_.context > 0) enter(phase::prefill);
    for (const auto& rank : ranks_) {
      rank->what->begin(settings_.context);
      // What was loaded is no part of the first step.
      rank->on.time->synchronise();
    }
    if (before_decode) before_decode();
    enter(settings_.serving ? phase::mixed : phase::decode);
    outcome_.at_decode_start = read();
    if (settings_.tokens < 2) outcome_.at_half = outcome_.at_decode_start;
    if (settings_.serving) watch_.emplace(settings_.serving->window_s, [this] { return read(); }).begin();
  }

  void make_tokens(const std::function<void(std::size_t)>& after_token) {
    while (has_more()) {
      wait();
      if (!has_more()) break;
      for (std::uint64_t left = step(); left > 0; --left) {
        ++outcome_.tokens_done;
        if (outcome_.tokens_done == settings_.tokens / 2) outcome_.at_half = read();
        after_token(outcome_.tokens_done);
        if (outcome_.tokens_done == settings_.tokens && !ends_by_time()) break;
      }
    }
  }

  void refused(status why) { outcome_.outcome = why; }

  /// Frees everything.
  session_outcome finish() {
    outcome_.at_end = read();
    if (outcome_.at_half.size == 0) outcome_.at_half = outcome_.at_end;
    load_report& report = outcome_.load.emplace();
    if (watch_) report.serving = watch_->finish(now_ns_);
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
    report.driver_ns_step_p99 = percentile_99(driver_ns_, steps_);
    if (!driver_ns_.empty()) report.driver_ns_step_worst = driver_ns_.back();
    return std::move(outcome_);
  }

 private:
  void enter(phase next) {
    for (const auto& rank : ranks_) {
      const status entered = rank->on.memory->begin_phase(next);
      if (entered != status::ok) throw memory_refused{entered};
    }
  }

  [[nodiscard]] bool ends_by_time() const { return settings_.serving && settings_.serving->stop_after_s > 0; }

  [[nodiscard]] bool has_more() const {
    if (outcome_.tokens_done >= settings_.tokens && !ends_by_time()) return false;
    return !ranks_.front()->what->is_done(now_ns_);
  }

  /// Until there is something to do.
  void wait() {
    std::uint64_t ns = 0;
    for (const auto& rank : ranks_) ns = rank->what->idle_ns(now_ns_);
    if (ns == 0) return;
    for (const auto& rank : ranks_) rank->on.time->pass(ns);
    now_ns_ += ns;
    watch_->wait(now_ns_ - ns, now_ns_);
  }

  /// How many tokens it made.
  std::uint64_t step() {
    took_.clear();
    std::uint64_t driver_ns = 0;
    load_step taken;
    for (const auto& rank : ranks_) {
      device_timeline& time = *rank->on.time;
      const std::uint64_t began = time.now_ns();
      const std::uint64_t driver_began = rank->on.device->now_ns();
      taken = rank->what->step(now_ns_);
      // The sampled token: the host cannot go on without it.
      time.synchronise();
      rank->on.memory->end_step();
      took_.push_back(time.now_ns() - began);
      rank->busy_ns += took_.back();
      driver_ns = std::max(driver_ns, rank->on.device->now_ns() - driver_began);
    }
    const std::uint64_t slowest = *std::max_element(took_.begin(), took_.end());
    for (std::size_t i = 0; i < took_.size(); ++i) ranks_[i]->on.time->pass(slowest - took_[i]);
    now_ns_ += slowest;
    outcome_.decode_seconds += static_cast<double>(slowest) / 1e9;
    step_ns_worst_ = std::max(step_ns_worst_, slowest);
    ++steps_;
    if (driver_ns > 0) driver_ns_.push_back(driver_ns);
    if (watch_) watch_->add(taken, {slowest, driver_ns}, now_ns_);
    return taken.tokens;
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
  std::optional<serving_watch> watch_;
  std::uint64_t now_ns_ = 0;  ///< since begin, waits included
  std::uint64_t steps_ = 0;
  std::uint64_t step_ns_worst_ = 0;
  std::vector<std::uint64_t> took_;       ///< of a step, by rank
  std::vector<std::uint64_t> driver_ns_;  ///< of the steps that called the driver
};

std::unique_ptr<load> make_model(const model_shape& published, const charged_memory& memory,
                                 const session_settings& settings, std::size_t rank) {
  model_shape model = published;
  if (settings.layers > 0) model.layers = settings.layers;
  const model_share share{settings.ranks, rank, settings.kv};
  if (settings.serving) return std::make_unique<serving_load>(memory, model, share, *settings.serving);
  return std::make_unique<model_load>(memory, model, share);
}

std::vector<named_load> make_named_loads() {
  std::vector<named_load> all;
  all.push_back({"origin-v4", 2600, 1'000'000,
                 [](const charged_memory& memory, const session_settings&, std::size_t) -> std::unique_ptr<load> {
                   return std::make_unique<origin_load>(memory);
                 },
                 [](std::size_t ranks) { return ranks == 1 ? "" : "origin-v4 runs on one rank"; }});
  for (const model_shape& model : model_shapes()) {
    all.push_back({model.name, model_tokens, model.positions,
                   [&model](const charged_memory& memory, const session_settings& settings, std::size_t rank) {
                     return make_model(model, memory, settings, rank);
                   },
                   [&model](std::size_t ranks) { return division_refusal(model, ranks); }, model.layers});
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
