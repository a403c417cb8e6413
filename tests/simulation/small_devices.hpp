// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include "small_worlds.hpp"

namespace arcalloc::testing {

/// A device, and an allocator's options, where three blocks are a crowd.
struct small_device {
  const char* name;
  std::uint64_t memory_bytes;
  std::size_t granularity;
  cached_bound cached_bytes_max;
  std::uint64_t capacity_bytes;
  geometry classes;
};

[[nodiscard]] inline plan world_of(const small_device& like) {
  plan empty;
  empty.device.memory_bytes = like.memory_bytes;
  empty.device.granularity = like.granularity;
  empty.settings.cached_bytes_max = like.cached_bytes_max;
  empty.settings.capacity_bytes = like.capacity_bytes;
  empty.settings.classes = like.classes;
  return empty;
}

inline constexpr std::uint64_t mebibyte = 1 << 20;
inline constexpr cached_bound derived{};
inline constexpr cached_bound unbounded{bound_mode::unbounded, 0, false};
inline constexpr cached_bound of_one_segment{bound_mode::explicit_bytes, 2 * mebibyte, false};
inline constexpr cached_bound of_nothing{bound_mode::explicit_bytes, 0, false};

inline const small_device small_devices[] = {
    {"granules_of_2_mib", 6 * mebibyte, 2 * mebibyte, derived, 0, geometry::classes_8},
    {"unbounded_in_4_mib", 4 * mebibyte, 512, unbounded, 0, geometry::classes_8},
    {"one_segment_cached", 24 * mebibyte, 512, of_one_segment, 6 * mebibyte, geometry::classes_8},
    {"nothing_cached", 6 * mebibyte, 65536, of_nothing, 0, geometry::classes_4},
    {"exact", 4 * mebibyte, 512, of_one_segment, 0, geometry::exact},
};

/// Sequences of the alphabet by their length, whatever an allocator answers: fewer would mean that some were left out.
inline constexpr std::uint64_t worlds_of_depth[] = {1, 11, 137, 1809, 24579, 338931, 4709637};

inline void walk_small_worlds(const small_device& like, std::size_t depth) {
  small_worlds all(world_of(like), depth);
  all.walk();
  EXPECT_EQ(all.violation(), "");
  EXPECT_EQ(all.worlds(), worlds_of_depth[depth]);
  std::printf("%llu sequences of %zu operations\n", static_cast<unsigned long long>(all.worlds()), depth);
}

}  // namespace arcalloc::testing
