// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/snapshot_words.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <iterator>

namespace arcalloc::trace {

namespace {

struct named_word {
  std::string_view text;
  snapshot_word word;
};

constexpr named_word words[] = {
    {"segments", snapshot_word::segments},
    {"device_traces", snapshot_word::device_traces},
    {"blocks", snapshot_word::blocks},
    {"action", snapshot_word::action},
    {"addr", snapshot_word::addr},
    {"address", snapshot_word::address},
    {"size", snapshot_word::size},
    {"total_size", snapshot_word::total_size},
    {"requested_size", snapshot_word::requested_size},
    {"stream", snapshot_word::stream},
    {"time_us", snapshot_word::time_us},
    {"device", snapshot_word::device},
    {"device_free", snapshot_word::device_free},
    {"is_expandable", snapshot_word::is_expandable},
    {"state", snapshot_word::state},
    {"alloc", snapshot_word::alloc},
    {"free_requested", snapshot_word::free_requested},
    {"free_completed", snapshot_word::free_completed},
    {"segment_alloc", snapshot_word::segment_alloc},
    {"segment_free", snapshot_word::segment_free},
    {"segment_map", snapshot_word::segment_map},
    {"segment_unmap", snapshot_word::segment_unmap},
    {"snapshot", snapshot_word::snapshot},
    {"oom", snapshot_word::oom},
    {"active_allocated", snapshot_word::allocated_state},
    {"active_pending_free", snapshot_word::pending_state},
    {"active_awaiting_free", snapshot_word::pending_state},
    {"inactive", snapshot_word::idle_state},
};

/// Which words are of a length, as bits: most texts are of a length that one word has, or none.
constexpr std::size_t length_end = 32;
constexpr std::array<std::uint32_t, length_end> words_of_length = [] {
  static_assert(std::size(words) <= 32);
  std::array<std::uint32_t, length_end> found{};
  for (std::size_t i = 0; i < std::size(words); ++i) found[words[i].text.size()] |= std::uint32_t{1} << i;
  return found;
}();

}  // namespace

snapshot_word snapshot_word_of(std::string_view text) noexcept {
  if (text.size() >= length_end) return snapshot_word::other;
  for (std::uint32_t left = words_of_length[text.size()]; left != 0; left &= left - 1) {
    const named_word& one = words[std::countr_zero(left)];
    if (one.text == text) return one.word;
  }
  return snapshot_word::other;
}

}  // namespace arcalloc::trace
