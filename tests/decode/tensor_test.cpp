// SPDX-License-Identifier: Apache-2.0
#include "decode/tensor.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <utility>

#include "devices.hpp"

namespace arcalloc::decode {
namespace {

class tensors : public testing::Test {
 protected:
  host_backend device_{64 * mebibyte};
  allocator_ptr memory_ = make_allocator(device_);
  tensor_source source_{*memory_, default_stream};
};

TEST_F(tensors, a_tensor_takes_exactly_its_bytes_and_gives_them_back) {
  {
    const tensor x = source_.make({.planes = 2, .rows = 3, .columns = 5});
    EXPECT_EQ(x.elements(), 30U);
    EXPECT_EQ(x.bytes(), 120U);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(x.data()) % block_alignment, 0U);
    EXPECT_EQ(counters_of(*memory_).requested_bytes, 120U);
    EXPECT_EQ(source_.live_bytes(), 120U);
  }
  EXPECT_EQ(counters_of(*memory_).requested_bytes, 0U);
  EXPECT_EQ(counters_of(*memory_).blocks_live, 0U);
  EXPECT_EQ(source_.live_bytes(), 0U);
}

TEST_F(tensors, moving_hands_the_block_over_and_leaves_no_tensor_behind) {
  tensor first = source_.make({.columns = 8});
  const float* const address = first.data();
  tensor second = std::move(first);
  EXPECT_EQ(second.data(), address);
  EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): that is the point
  EXPECT_EQ(first.elements(), 0U);
  EXPECT_EQ(counters_of(*memory_).blocks_live, 1U);
}

TEST_F(tensors, assigning_frees_what_was_there) {
  tensor x = source_.make({.columns = 8});
  x = source_.make({.columns = 16});
  EXPECT_EQ(source_.live_bytes(), 64U);
  EXPECT_EQ(counters_of(*memory_).blocks_live, 1U);
  x = {};
  EXPECT_EQ(counters_of(*memory_).blocks_live, 0U);
}

TEST_F(tensors, an_empty_tensor_asks_for_nothing) {
  const tensor none = source_.make({.rows = 0, .columns = 4});
  EXPECT_FALSE(none);
  EXPECT_EQ(counters_of(*memory_).requests, 0U);
}

TEST_F(tensors, a_refusal_carries_the_status) {
  const auto refused_with = [this](const shape& extents) {
    try {
      static_cast<void>(source_.make(extents));
    } catch (const memory_refused& refusal) {
      return refusal.outcome;
    }
    return status::ok;
  };
  EXPECT_EQ(refused_with({.rows = 128, .columns = mebibyte}), status::device_out_of_memory);
  EXPECT_EQ(refused_with({.planes = SIZE_MAX, .rows = 2}), status::request_too_large);
  EXPECT_EQ(refused_with({.columns = SIZE_MAX / 2}), status::request_too_large);
  EXPECT_EQ(source_.live_bytes(), 0U);
  EXPECT_EQ(counters_of(*memory_).blocks_live, 0U);
}

/// A device that lends and does not take back.
class keeping_backend final : public altered_host {
 public:
  keeping_backend() noexcept : altered_host(mebibyte) {}
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override {
    return keeps_ ? status::backend_failed : altered_host::free(address, bytes);
  }
  void keep(bool keeps) noexcept { keeps_ = keeps; }

 private:
  bool keeps_ = false;
};

TEST(tensor_source, remembers_how_the_allocator_answered_a_free) {
  keeping_backend device;
  const allocator_ptr memory = make_allocator(device, options_off());
  tensor_source source{*memory, default_stream};
  device.keep(true);
  // What the allocator says is the allocator's business; the source must say the same.
  block piece;
  ASSERT_EQ(memory->allocate(64, default_stream, piece), status::ok);
  const status answer = memory->deallocate(piece);
  EXPECT_EQ(source.first_refused_free(), status::ok);
  static_cast<void>(source.make({.columns = 16}));
  EXPECT_EQ(source.first_refused_free(), answer);
  device.keep(false);
}

}  // namespace
}  // namespace arcalloc::decode
