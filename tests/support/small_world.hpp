// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/profile.hpp>
#include <initializer_list>

#include "audit.hpp"
#include "recording_backend.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc::testing {

/// A device and an allocator over it, with the calls a test makes most, each checked.
class small_world {
 public:
  explicit small_world(const options& settings = {}, std::uint64_t device_bytes = 24 * gib, std::size_t granule = 512)
      : device(device_bytes, granule) {
    allocator* raw = nullptr;
    EXPECT_EQ(allocator::create(device, settings, raw), status::ok);
    memory.reset(raw);
  }

  /// A block that must be had.
  block get(std::uint64_t bytes, stream on = default_stream) {
    block piece;
    EXPECT_EQ(memory->allocate(bytes, on, piece), status::ok) << bytes;
    return piece;
  }
  void put(const block& piece) { EXPECT_EQ(memory->deallocate(piece), status::ok); }

  [[nodiscard]] counters now() const {
    counters said;
    memory->read_counters(said);
    return said;
  }
  void check() const {
    for (const std::string& violation : check_invariants(*memory)) ADD_FAILURE() << violation;
    EXPECT_EQ(device.convictions, 0U);
    EXPECT_EQ(now().reserved_bytes, device.lent_bytes);
  }

  recording_backend device;
  allocator_ptr memory;
};

[[nodiscard]] inline options capped(std::uint64_t bytes) {
  options settings;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, bytes};
  return settings;
}

inline profile profile_of(std::initializer_list<profile_entry> entries) {
  profile made;
  for (const profile_entry& entry : entries) EXPECT_TRUE(made.add(entry));
  return made;
}

}  // namespace arcalloc::testing
