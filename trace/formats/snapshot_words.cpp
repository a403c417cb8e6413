// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/snapshot_words.hpp"

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

}  // namespace

snapshot_word snapshot_word_of(std::string_view text) noexcept {
  for (const named_word& one : words) {
    if (one.text == text) return one.word;
  }
  return snapshot_word::other;
}

}  // namespace arcalloc::trace
