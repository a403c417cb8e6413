// SPDX-License-Identifier: Apache-2.0
// Random calls from a seed, with the independent walk after every one.
#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>

#include <map>
#include <random>

#include "audit.hpp"
#include "recording_backend.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::check_invariants;
using testing::mib;
using testing::recording_backend;

struct world {
  geometry classes;
  cached_bound cap;
  std::uint64_t capacity_bytes;
  std::uint64_t device_bytes;
  std::size_t granule;
};

/// A decode-like mix: many small sizes, some medium, few large, sizes that creep upwards.
std::uint64_t draw_size(std::mt19937_64& random, std::uint64_t step) {
  switch (random() % 8) {
    case 0:
      return 1 + random() % 64;
    case 1:
    case 2:
      return 1 + random() % 32768;
    case 3:
      return 1 + random() % (300 * 1024);
    case 4:
      return 2048 * (step % 4000 + 1);
    case 5:
      return 1 + random() % (3 * mib);
    case 6:
      return 1 + random() % (20 * mib);
    default:
      return 512 * (1 + random() % 64);
  }
}

class seeded_calls : public ::testing::TestWithParam<std::tuple<int, int>> {};

TEST_P(seeded_calls, keep_every_invariant) {
  const auto [which, seed] = GetParam();
  const world worlds[] = {
      {geometry::classes_8, {bound_mode::explicit_bytes, 24 * mib}, 0, 4096 * mib, 512},
      {geometry::classes_8, {bound_mode::derived}, 96 * mib, 4096 * mib, 2 * mib},
      {geometry::classes_1, {bound_mode::explicit_bytes, 0}, 0, 80 * mib, 4096},
      {geometry::classes_16, {bound_mode::unbounded}, 128 * mib, 100 * mib, 65536},
      {geometry::exact, {bound_mode::explicit_bytes, 16 * mib}, 0, 4096 * mib, 512},
  };
  const world& at = worlds[which];
  recording_backend device(at.device_bytes, at.granule);
  options settings;
  settings.classes = at.classes;
  settings.cached_bytes_max = at.cap;
  settings.capacity_bytes = at.capacity_bytes;
  allocator* raw = nullptr;
  ASSERT_EQ(allocator::create(device, settings, raw), status::ok);
  allocator_ptr memory(raw);

  std::mt19937_64 random(static_cast<std::uint64_t>(seed) * 977 + static_cast<std::uint64_t>(which));
  std::map<std::byte*, std::pair<block, std::uint64_t>> live;  // by address, with the size requested
  std::uint64_t calls = 0;
  for (std::uint64_t step = 0; step < 1500; ++step) {
    const std::uint64_t what = random() % 100;
    if (what < 52 && live.size() < 60) {
      const std::uint64_t bytes = draw_size(random, step);
      block piece;
      const status outcome = memory->allocate(bytes, stream{random() % 3}, piece);
      ++calls;
      if (outcome == status::ok) {
        auto* const begin = static_cast<std::byte*>(piece.data());
        const auto after = live.lower_bound(begin);
        if (after != live.end()) {
          ASSERT_LE(begin + bytes, after->first) << "overlaps the next block";
        }
        if (after != live.begin()) {
          const auto before = std::prev(after);
          ASSERT_LE(before->first + before->second.second, begin) << "overlaps the block before";
        }
        live[begin] = {piece, bytes};
      } else {
        ASSERT_TRUE(outcome == status::device_out_of_memory || outcome == status::capacity_exceeded);
        ASSERT_EQ(memory->last_failure().requested_bytes, bytes);
      }
    } else if (what < 92 && !live.empty()) {
      auto victim = std::next(live.begin(), static_cast<std::ptrdiff_t>(random() % live.size()));
      const auto [piece, bytes] = victim->second;
      switch (random() % 3) {
        case 0:
          ASSERT_EQ(memory->deallocate(piece), status::ok);
          break;
        case 1:
          ASSERT_EQ(memory->deallocate(piece.data()), status::ok);
          break;
        default:
          ASSERT_EQ(memory->deallocate(piece.data(), bytes), status::ok);
          break;
      }
      live.erase(victim);
      if (random() % 4 == 0) {
        ASSERT_NE(memory->deallocate(piece), status::ok) << "a second free";
      }
    } else if (what < 94) {
      ASSERT_EQ(memory->trim(random() % (32 * mib)), status::ok);
    } else if (what < 95) {
      ASSERT_EQ(memory->drain(), status::ok);
    } else if (what < 96) {
      ASSERT_EQ(memory->begin_phase(static_cast<phase>(random() % 3)), status::ok);
    } else if (what < 97) {
      ASSERT_EQ(memory->set_enabled(random() % 2 == 0), status::ok);
    } else {
      memory->end_step();
    }
    const auto violations = check_invariants(*memory);
    ASSERT_TRUE(violations.empty()) << "step " << step << ": " << violations.front();
    ASSERT_EQ(device.convictions, 0U);
    counters now;
    memory->read_counters(now);
    ASSERT_EQ(now.reserved_bytes, device.lent_bytes);
    ASSERT_EQ(now.requests, calls);
    ASSERT_EQ(now.blocks_live, live.size());
    if (at.capacity_bytes != 0) {
      ASSERT_LE(device.lent_bytes_peak, at.capacity_bytes);
    }
  }
  for (const auto& [address, entry] : live) ASSERT_EQ(memory->deallocate(entry.first), status::ok);
  ASSERT_EQ(memory->drain(), status::ok);
  ASSERT_EQ(device.lent_bytes, 0U);
}

INSTANTIATE_TEST_SUITE_P(worlds, seeded_calls, ::testing::Combine(::testing::Range(0, 5), ::testing::Range(1, 13)));

}  // namespace
}  // namespace arcalloc
