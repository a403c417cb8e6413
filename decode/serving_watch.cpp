// SPDX-License-Identifier: Apache-2.0
#include "decode/serving_watch.hpp"

#include <algorithm>
#include <utility>

#include "decode/serving_settings.hpp"

namespace arcalloc::decode {

namespace {

double seconds_of(std::uint64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

serving_watch::serving_watch(std::uint64_t window_s, std::function<counters()> read)
    : window_ns_(window_s * ns_in_a_second), read_(std::move(read)), window_end_ns_(window_ns_) {}

void serving_watch::begin() {
  at_window_start_ = read_();
  look();
}

void serving_watch::look() {
  const counters now = read_();
  const auto most = [](std::uint64_t& peak, std::uint64_t value) { peak = std::max(peak, value); };
  const auto least = [&](std::uint64_t& floor, std::uint64_t value) {
    floor = has_looked_ ? std::min(floor, value) : value;
  };
  most(window_.requested_bytes_most, now.requested_bytes);
  most(window_.allocated_bytes_most, now.allocated_bytes);
  most(window_.held_bytes_most, now.held_bytes);
  most(window_.reserved_bytes_most, now.reserved_bytes);
  least(window_.held_bytes_least, now.held_bytes);
  least(window_.reserved_bytes_least, now.reserved_bytes);
  if (is_idle_) {
    std::uint64_t& between =
        window_.reserved_bytes_between.emplace(window_.reserved_bytes_between.value_or(now.reserved_bytes));
    between = std::min(between, now.reserved_bytes);
  }
  has_looked_ = true;
}

void serving_watch::add(const load_step& taken, const step_times& times, std::uint64_t now_ns) {
  ++window_.steps;
  window_.tokens += taken.tokens;
  window_.prompt_tokens += taken.prompt_tokens;
  window_.requests_done += taken.requests_done;
  window_.sequences_most = std::max(window_.sequences_most, taken.sequences);
  window_.waiting_most = std::max(window_.waiting_most, taken.waiting);
  step_ns_.push_back(times.step_ns);
  if (times.driver_ns > 0) pause_ns_.push_back(times.driver_ns);
  report_.requests = taken.requests_come;
  report_.skipped = taken.requests_skipped;
  report_.done += taken.requests_done;
  is_idle_ = taken.sequences_after == 0;
  if (is_idle_ || times.driver_ns > 0 || now_ns >= next_look_ns_) {
    next_look_ns_ = now_ns + ns_in_a_second;
    look();
  }
  close_until(now_ns);
}

void serving_watch::wait(std::uint64_t from_ns, std::uint64_t now_ns) {
  report_.waited_s += seconds_of(now_ns - from_ns);
  close_until(now_ns);
  if (!has_looked_) look();
}

void serving_watch::close_until(std::uint64_t now_ns) {
  while (now_ns >= window_end_ns_) {
    close(window_end_ns_);
    window_end_ns_ += window_ns_;
  }
}

void serving_watch::close(std::uint64_t end_ns) {
  if (!has_looked_) look();
  const counters now = read_();
  window_.end_s = seconds_of(end_ns);
  window_.driver_allocs = now.driver_allocs - at_window_start_.driver_allocs;
  window_.driver_frees = now.driver_frees - at_window_start_.driver_frees;
  window_.steps_with_driver_calls = pause_ns_.size();
  window_.step_ns_p99 = percentile_99(step_ns_, window_.steps);
  window_.pause_ns_p99 = percentile_99(pause_ns_, window_.steps);
  window_.step_ns_worst = step_ns_.empty() ? 0 : step_ns_.back();
  window_.pause_ns_worst = pause_ns_.empty() ? 0 : pause_ns_.back();
  report_.windows.push_back(window_);
  window_ = {};
  at_window_start_ = now;
  step_ns_.clear();
  pause_ns_.clear();
  has_looked_ = false;
}

serving_report serving_watch::finish(std::uint64_t now_ns) {
  if (window_.steps > 0 || report_.windows.empty()) close(now_ns);
  report_.seconds = seconds_of(now_ns);
  return std::move(report_);
}

std::uint64_t percentile_99(std::vector<std::uint64_t>& values, std::uint64_t of_all) {
  std::sort(values.begin(), values.end());
  // The rank among all, and its place among those above 0, which are the last.
  const std::uint64_t rank = (of_all * 99 + 99) / 100;
  const std::uint64_t zeros = of_all - values.size();
  return rank > zeros ? values[rank - zeros - 1] : 0;
}

}  // namespace arcalloc::decode
