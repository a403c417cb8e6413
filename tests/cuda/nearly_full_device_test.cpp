// SPDX-License-Identifier: Apache-2.0
// A card with 262 MiB free, and 1,000 steps of an eager decode whose caches grow by concatenation: with exact sizes
// under a fixed bound of 1 GiB it dies early with nearly all memory idle; as shipped it lives, under the derived bound.
#include <gtest/gtest.h>

#include <arcalloc/allocator.hpp>
#include <arcalloc/cuda_backend.hpp>
#include <arcalloc/sim_backend.hpp>

#include "loaded_fake.hpp"
#include "support/sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::kib;
using testing::loaded_fake;
using testing::mib;

constexpr std::uint64_t steps = 1000;
constexpr std::size_t layers = 4;

/// What the driver says is free: the one figure that counts here.
std::uint64_t driver_free(const cuda_backend& device) {
  memory_info said;
  EXPECT_EQ(device.query_memory(said), status::ok);
  return said.free_bytes;
}

class nearly_full_device : public ::testing::Test {
 protected:
  void SetUp() override {
    fake_cuda::settings how;
    how.devices[0].others_bytes = how.devices[0].memory_bytes - 262 * mib;
    how.free_synchronises = false;
    loaded_fake::get().fake.reset(how);
    cuda_options wanted;
    wanted.driver_path = ARCALLOC_FAKE_CUDA;
    ASSERT_EQ(device_.open(wanted), status::ok);
    ASSERT_EQ(driver_free(device_), 262 * mib);
  }

  void decode(const options& settings) {
    allocator* made = nullptr;
    ASSERT_EQ(allocator::create(device_, settings, made), status::ok);
    const allocator_ptr memory(made);
    cap_ = memory->read_cap();
    std::vector<block> caches(layers);
    for (done_ = 0; done_ < steps && step(*memory, caches); ++done_) {
      memory->end_step();
      memory->read_counters(last_);
      ASSERT_EQ(driver_free(device_), 262 * mib - last_.reserved_bytes);
      ASSERT_LE(last_.cached_bytes, last_.cached_bytes_max);
    }
    failure_ = memory->last_failure();
    memory->read_counters(last_);
    for (const block& cache : caches) EXPECT_EQ(memory->deallocate(cache), status::ok);
  }

  /// Each layer: scores of the whole context, and a cache that is one position longer than its predecessor.
  bool step(allocator& memory, std::vector<block>& caches) const {
    for (block& cache : caches) {
      block scores;
      block longer;
      const std::uint64_t positions = done_ + 64;
      if (memory.allocate(positions * 2 * kib, default_stream, scores) != status::ok) return false;
      const status grown = memory.allocate(positions * 8 * kib, default_stream, longer);
      EXPECT_EQ(memory.deallocate(scores), status::ok);
      if (grown != status::ok) return false;
      EXPECT_EQ(memory.deallocate(cache), status::ok);
      cache = longer;
    }
    return true;
  }

  cuda_backend device_;
  std::uint64_t done_ = 0;
  counters last_{};
  cap_arithmetic cap_;
  failure_record failure_;
};

TEST_F(nearly_full_device, kills_a_fixed_bound_of_exact_sizes_at_a_low_token) {
  options settings;
  settings.classes = geometry::exact;
  settings.oom_retry = false;
  settings.cached_bytes_max = {bound_mode::explicit_bytes, std::uint64_t{1} << 30};
  decode(settings);
  EXPECT_EQ(failure_.outcome, status::device_out_of_memory);
  EXPECT_EQ(done_, 77U);
  EXPECT_GT(last_.cached_bytes, 250 * mib) << "what it died of";
  EXPECT_LT(last_.allocated_bytes, 5 * mib);
}

TEST_F(nearly_full_device, is_survived_as_shipped) {
  decode({});
  EXPECT_EQ(done_, steps);
  EXPECT_EQ(last_.failed, 0U);
  EXPECT_EQ(cap_.cap_source, ARCALLOC_CAP_DERIVED);
  EXPECT_EQ(cap_.cached_bytes_max, 98 * mib + 256 * kib);
  EXPECT_LT(last_.reserved_bytes_peak, 200 * mib);
  EXPECT_LT(last_.driver_allocs, 200U) << "in 1,000 steps";
}

}  // namespace
}  // namespace arcalloc
