// SPDX-License-Identifier: Apache-2.0
#include "trace/tune/tune.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

#include "trace/formats/read_trace.hpp"
#include "trace/formats/trace_error.hpp"
#include "trace/tune/idle_watch.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20;

options settings_for(const tune_question& asked, geometry classes, std::optional<std::uint64_t> cap_mb,
                     std::uint64_t capacity_bytes) {
  options settings = asked.settings;
  settings.classes = classes;
  settings.capacity_bytes = capacity_bytes;
  settings.cached_bytes_max = cap_mb ? cached_bound{bound_mode::explicit_bytes, *cap_mb * mebibyte, false}
                                     : cached_bound{bound_mode::unbounded, 0, false};
  return settings;
}

replay_result play(const tune_question& asked, const options& settings, idle_watch* watch) {
  sim_options described;
  described.memory_bytes = asked.device_bytes;
  described.granularity = asked.granule_bytes;
  sim_backend device(described);
  trace_replay replay(asked.file, device, &device, settings);
  if (watch != nullptr && replay.memory().begin_recording(watch->sink()) != status::ok) {
    throw trace_error{asked.file + ": cannot be watched"};
  }
  const auto from = source_of(asked.file, asked.trace);
  (void)read_trace(*from, {}, replay);
  if (watch != nullptr && (replay.memory().end_recording() != status::ok || !watch->is_whole())) {
    throw trace_error{asked.file + ": no memory for the times in which segments idle"};
  }
  return replay.finish();
}

/// Calls `work(i)` for every i below `count`, on so many threads. Throws what one of them threw.
void for_each_in_parallel(std::size_t count, unsigned threads, const std::function<void(std::size_t)>& work) {
  std::atomic<std::size_t> next{0};
  std::mutex mutex;
  std::exception_ptr failed;
  const auto run = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      try {
        work(i);
      } catch (...) {
        const std::lock_guard guard(mutex);
        if (failed == nullptr) failed = std::current_exception();
        next = count;
      }
    }
  };
  std::vector<std::thread> crew;
  for (unsigned i = 1; i < std::max(threads, 1U); ++i) crew.emplace_back(run);
  run();
  for (std::thread& one : crew) one.join();
  if (failed != nullptr) std::rethrow_exception(failed);
}

tune_point point_of(geometry classes, std::optional<std::uint64_t> cap_mb, const replay_result& played) {
  const counters& last = played.last;
  tune_point made;
  made.classes = classes;
  made.cap_mb = cap_mb;
  made.completed = !played.refusal;
  made.reserved_bytes_peak = last.reserved_bytes_peak;
  made.misses = last.misses;
  made.driver_calls = last.driver_allocs + last.driver_frees;
  made.evictions = last.evictions;
  return made;
}

std::optional<std::size_t> choice_among(const std::vector<tune_point>& points) {
  std::uint64_t fewest = UINT64_MAX;
  for (const tune_point& one : points) {
    if (one.completed) fewest = std::min(fewest, one.misses);
  }
  std::optional<std::size_t> chosen;
  const auto better = [&](const tune_point& one, const tune_point& than) {
    if (one.reserved_bytes_peak != than.reserved_bytes_peak) return one.reserved_bytes_peak < than.reserved_bytes_peak;
    if (one.misses != than.misses) return one.misses < than.misses;
    return one.classes == geometry::classes_8 && than.classes != geometry::classes_8;
  };
  for (std::size_t i = 0; i < points.size(); ++i) {
    const tune_point& one = points[i];
    // A cap of nothing cannot be told to the environment, and unbounded is for comparison alone.
    if (!one.completed || !one.cap_mb || one.gap() > tune_gap_max) continue;
    if (static_cast<double>(one.misses) > tune_gap_max * static_cast<double>(fewest)) continue;
    if (!chosen || better(one, points[*chosen])) chosen = i;
  }
  return chosen;
}

std::optional<std::uint64_t> smallest_capacity(const tune_question& asked, const tune_point& of,
                                               std::uint64_t requested_bytes_peak) {
  const std::uint64_t step = mebibyte;  // as the environment says it
  const auto completes = [&](std::uint64_t steps) {
    return !play(asked, settings_for(asked, of.classes, of.cap_mb, steps * step), nullptr).refusal;
  };
  std::uint64_t too_small = (requested_bytes_peak - std::min(requested_bytes_peak, step)) / step;
  std::uint64_t enough = std::max<std::uint64_t>((of.reserved_bytes_peak + step - 1) / step, 1);
  if (!completes(enough)) return std::nullopt;
  while (enough - too_small > 1) {
    const std::uint64_t middle = too_small + (enough - too_small) / 2;
    (completes(middle) ? enough : too_small) = middle;
  }
  return enough * step;
}

std::vector<std::uint64_t> caps_up_to(std::uint64_t cached_bytes) {
  std::vector<std::uint64_t> caps;
  for (std::uint64_t mb = cached_bytes < 8 * mebibyte ? 1 : 8;; mb *= 2) {
    caps.push_back(mb);
    if (mb * mebibyte >= cached_bytes) return caps;
  }
}

/// One geometry without a cap: where everything else is measured from.
struct baseline {
  tune_point point;
  std::uint64_t requested_bytes_peak = 0;
  std::uint64_t cached_bytes_peak = 0;
  std::vector<idle_interval> idle;
};

baseline without_cap(const tune_question& asked, geometry classes) {
  idle_watch watch;
  const replay_result played = play(asked, settings_for(asked, classes, std::nullopt, 0), &watch);
  baseline made;
  made.point = point_of(classes, std::nullopt, played);
  made.point.misses_least = made.point.misses;
  made.requested_bytes_peak = played.requested_bytes_peak;
  made.cached_bytes_peak = played.last.cached_bytes_peak;
  made.idle = watch.intervals();
  return made;
}

tune_point with_cap(const tune_question& asked, const baseline& base, std::uint64_t cap_mb) {
  const geometry classes = base.point.classes;
  tune_point point = point_of(classes, cap_mb, play(asked, settings_for(asked, classes, cap_mb, 0), nullptr));
  const eviction_bound least = least_evictions(base.idle, cap_mb * mebibyte);
  point.misses_least = base.point.misses + least.evictions;
  point.least_is_exact = least.exact;
  return point;
}

}  // namespace

tune_answer tune(const tune_question& asked) {
  const std::size_t rows = asked.geometries.size();
  std::mutex mutex;
  std::size_t done = 0;
  std::size_t runs = rows * (1 + asked.caps_mb.size());
  const auto count_one = [&] {
    const std::lock_guard guard(mutex);
    if (asked.progress) asked.progress(++done, runs);
  };
  std::vector<baseline> bases(rows);
  for_each_in_parallel(rows, asked.threads, [&](std::size_t g) {
    bases[g] = without_cap(asked, asked.geometries[g]);
    count_one();
  });
  tune_answer answer;
  for (const baseline& one : bases) {
    answer.requested_bytes_peak = one.requested_bytes_peak;
    answer.cached_bytes_peak = std::max(answer.cached_bytes_peak, one.cached_bytes_peak);
  }
  const std::vector<std::uint64_t> caps_mb =
      asked.caps_mb.empty() ? caps_up_to(answer.cached_bytes_peak) : asked.caps_mb;
  const std::size_t row = caps_mb.size() + 1;
  runs = rows * row;
  answer.points.resize(runs);
  for (std::size_t g = 0; g < rows; ++g) answer.points[g * row + caps_mb.size()] = bases[g].point;
  for_each_in_parallel(rows * caps_mb.size(), asked.threads, [&](std::size_t i) {
    const std::size_t g = i / caps_mb.size();
    answer.points[g * row + i % caps_mb.size()] = with_cap(asked, bases[g], caps_mb[i % caps_mb.size()]);
    count_one();
  });
  answer.chosen = choice_among(answer.points);
  if (answer.chosen) {
    answer.smallest_capacity_bytes =
        smallest_capacity(asked, answer.points[*answer.chosen], answer.requested_bytes_peak);
  }
  return answer;
}

}  // namespace arcalloc::trace
