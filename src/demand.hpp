// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/profile.hpp>

#include "recycled.hpp"

namespace arcalloc::detail {

/// While a profile is recorded: how many blocks of each stream and class are out, and were at most.
///
/// Called by the pool on every request and free of a recording, which all take the slow way; calls nothing
/// but the arena. Guarded by the pool's mutex.
/// Cost: a look-up in a hash of 256 chains. A class that the host has no memory for is missing, and known to be.
class demand {
 public:
  explicit demand(arena& memory) noexcept : memory_(memory) {}

  [[nodiscard]] bool recording() const noexcept { return recording_; }
  void start() noexcept;
  /// Adds what was seen to `out`, in order of first request. False where the host had no memory for all of it.
  [[nodiscard]] bool stop(profile& out) noexcept;

  /// False when the host has no memory: the block is not followed.
  [[nodiscard]] bool note_out(stream on, std::uint64_t class_bytes) noexcept;
  void note_back(stream on, std::uint64_t class_bytes) noexcept;

  /// The block was noted on `on`, and its own stream will be said to be another when it comes back.
  void note_moved(const void* address, stream on) noexcept;
  /// What it was noted on: `own`, unless it was moved; that is forgotten then.
  [[nodiscard]] stream noted_on(const void* address, stream own) noexcept;

 private:
  struct seen {
    stream on = default_stream;
    std::uint64_t class_bytes = 0;
    std::uint64_t out = 0;
    std::uint64_t most = 0;
    seen* next_in_bucket = nullptr;
    seen* next = nullptr;
  };
  struct moved {
    const void* address = nullptr;
    stream on = default_stream;
    moved* next = nullptr;
  };
  static constexpr std::uint32_t bucket_count = 256;

  [[nodiscard]] static std::uint32_t bucket_of(stream on, std::uint64_t class_bytes) noexcept;
  [[nodiscard]] seen* find(stream on, std::uint64_t class_bytes) noexcept;

  arena& memory_;
  seen* buckets_[bucket_count] = {};
  seen* first_ = nullptr;
  seen* last_ = nullptr;
  seen* spare_ = nullptr;  // chained through next
  moved* moved_ = nullptr;
  moved* spare_moved_ = nullptr;
  bool recording_ = false;
  bool complete_ = true;
};

}  // namespace arcalloc::detail
