// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <arcalloc/backend.hpp>

namespace arcalloc {

/// What a request meets in a capture window when nothing we hold will do.
enum class capture_policy : std::uint8_t {
  as_configured = 0,  ///< options::capture_miss; there it means grow
  grow,               ///< the driver is asked, beside the capture; where the device cannot do that, as refuse
  refuse,             ///< status capture_miss, and the window goes on
};

/// Graphs that are never replayed at once may share the memory that only a replay touches: those whose
/// windows name the same group. The number is the caller's choice; none means a group of its own.
enum class pool_group : std::uint64_t { none = 0 };

/// A captured graph, as the allocator knows it: what is pinned for it. Numbers are not used twice.
enum class graph_id : std::uint64_t { none = 0 };

struct capture_options {
  capture_policy policy = capture_policy::as_configured;
  pool_group group = pool_group::none;
};

/// Requests of one class and stream that missed in a window.
struct capture_miss_record {
  std::uint64_t requested_bytes = 0;  ///< the first of them, as asked
  std::uint64_t class_bytes = 0;
  stream on = default_stream;
  std::uint64_t count = 0;
};

}  // namespace arcalloc
