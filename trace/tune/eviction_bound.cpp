// SPDX-License-Identifier: Apache-2.0
#include "trace/tune/eviction_bound.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>

namespace arcalloc::trace {

namespace {

constexpr std::size_t states_max = 2048;

using intervals = std::vector<idle_interval>;

/// All that idles at once, by how it is kept: a sweep over the moments, with every set of kept intervals that some
/// choice leads to. None where there are too many of them.
std::optional<std::uint64_t> exact_evictions(const intervals& sorted, std::uint64_t cached_bytes_max) {
  // A state: which intervals are kept now, ascending; and how many have been given back to come there, at least.
  std::map<std::vector<std::uint32_t>, std::uint64_t> states{{{}, 0}};
  for (std::uint32_t i = 0; i < sorted.size(); ++i) {
    std::map<std::vector<std::uint32_t>, std::uint64_t> next;
    const auto reach = [&next](std::vector<std::uint32_t> kept, std::uint64_t evictions) {
      const auto [at, fresh] = next.try_emplace(std::move(kept), evictions);
      if (!fresh) at->second = std::min(at->second, evictions);
    };
    for (const auto& [before, evictions] : states) {
      std::vector<std::uint32_t> kept;
      std::uint64_t bytes = 0;
      for (const std::uint32_t one : before) {
        if (sorted[one].end <= sorted[i].begin) continue;
        kept.push_back(one);
        bytes += sorted[one].bytes;
      }
      // Whether to give one back is asked when it begins to idle: later is no better, with the future known.
      reach(kept, evictions + 1);
      if (bytes + sorted[i].bytes > cached_bytes_max) continue;
      kept.push_back(i);
      reach(std::move(kept), evictions);
    }
    if (next.size() > states_max) return std::nullopt;
    states = std::move(next);
  }
  std::uint64_t least = UINT64_MAX;
  for (const auto& [kept, evictions] : states) least = std::min(least, evictions);
  return least;
}

bool all_fit(const intervals& sorted, std::uint64_t cached_bytes_max) {
  std::multimap<std::uint64_t, std::uint64_t> idle;  // end, bytes
  std::uint64_t bytes = 0;
  for (const idle_interval& one : sorted) {
    for (; !idle.empty() && idle.begin()->first <= one.begin; idle.erase(idle.begin())) bytes -= idle.begin()->second;
    idle.emplace(one.end, one.bytes);
    bytes += one.bytes;
    if (bytes > cached_bytes_max) return false;
  }
  return true;
}

/// Of one size: whoever is wanted last goes, and no choice is better.
std::uint64_t evictions_of_one_size(const intervals& sorted, std::uint64_t cached_bytes_max) {
  std::multiset<std::uint64_t> kept;  // ends
  const std::uint64_t room = cached_bytes_max / sorted.front().bytes;
  std::uint64_t evictions = 0;
  for (const idle_interval& one : sorted) {
    while (!kept.empty() && *kept.begin() <= one.begin) kept.erase(kept.begin());
    kept.insert(one.end);
    if (kept.size() <= room) continue;
    kept.erase(std::prev(kept.end()));
    ++evictions;
  }
  return evictions;
}

/// The fewest of these sizes that together make `bytes`.
std::uint64_t fewest_for(const std::map<std::uint64_t, std::uint64_t>& count_of_size, std::uint64_t bytes) {
  std::uint64_t fewest = 0;
  for (auto at = count_of_size.rbegin(); at != count_of_size.rend(); ++at) {
    const std::uint64_t wanted = (bytes + at->first - 1) / at->first;
    if (wanted <= at->second) return fewest + wanted;
    fewest += at->second;
    bytes -= at->second * at->first;
  }
  return fewest;
}

/// What moments of which no interval covers two must give back, added up: the best such choice. Intervals longer than
/// `longest` count as given back, for nothing.
std::uint64_t evictions_at_independent_moments(const intervals& sorted, std::uint64_t cached_bytes_max,
                                               std::uint64_t longest) {
  struct kept_at {
    std::uint64_t end;
    std::uint64_t begin;
    std::uint64_t bytes;
    bool operator<(const kept_at& other) const { return end < other.end; }
  };
  std::multiset<kept_at> idle;
  std::multiset<std::uint64_t> begins;
  std::map<std::uint64_t, std::uint64_t> count_of_size;
  std::uint64_t bytes = 0;
  // best[k]: of the moments up to the k-th one that was looked at.
  std::vector<std::pair<std::uint64_t, std::uint64_t>> best;  // moment, evictions
  for (const idle_interval& one : sorted) {
    if (one.end - one.begin > longest) continue;
    while (!idle.empty() && idle.begin()->end <= one.begin) {
      const kept_at gone = *idle.begin();
      idle.erase(idle.begin());
      begins.erase(begins.find(gone.begin));
      const auto size = count_of_size.find(gone.bytes);
      if (--size->second == 0) count_of_size.erase(size);
      bytes -= gone.bytes;
    }
    idle.insert({one.end, one.begin, one.bytes});
    begins.insert(one.begin);
    ++count_of_size[one.bytes];
    bytes += one.bytes;
    std::uint64_t found = best.empty() ? 0 : best.back().second;
    if (bytes > cached_bytes_max) {
      // Nothing that idles now idled at a moment before the earliest of them began.
      const std::uint64_t earliest = *begins.begin();
      const auto behind = std::lower_bound(best.begin(), best.end(), earliest,
                                           [](const auto& at, std::uint64_t moment) { return at.first < moment; });
      const std::uint64_t before = behind == best.begin() ? 0 : std::prev(behind)->second;
      found = std::max(found, before + fewest_for(count_of_size, bytes - cached_bytes_max));
    }
    best.emplace_back(one.begin, found);
  }
  return best.empty() ? 0 : best.back().second;
}

}  // namespace

eviction_bound least_evictions(intervals all, std::uint64_t cached_bytes_max) {
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.begin < b.begin; });
  // What cannot be kept by itself is given back in any case.
  eviction_bound found;
  const auto too_large =
      std::remove_if(all.begin(), all.end(), [&](const idle_interval& one) { return one.bytes > cached_bytes_max; });
  found.evictions = static_cast<std::uint64_t>(all.end() - too_large);
  all.erase(too_large, all.end());
  if (all_fit(all, cached_bytes_max)) return found;
  const bool one_size =
      std::all_of(all.begin(), all.end(), [&](const idle_interval& one) { return one.bytes == all.front().bytes; });
  if (one_size) {
    found.evictions += evictions_of_one_size(all, cached_bytes_max);
    return found;
  }
  if (const auto exact = exact_evictions(all, cached_bytes_max)) {
    found.evictions += *exact;
    return found;
  }
  found.exact = false;
  std::uint64_t best = evictions_at_independent_moments(all, cached_bytes_max, UINT64_MAX);
  for (std::uint64_t longest = 2; longest < all.back().end; longest *= 2) {
    best = std::max(best, evictions_at_independent_moments(all, cached_bytes_max, longest));
  }
  found.evictions += best;
  return found;
}

}  // namespace arcalloc::trace
