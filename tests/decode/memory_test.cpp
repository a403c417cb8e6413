// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "decode/configs.hpp"
#include "decode/host_executor.hpp"
#include "decode/model.hpp"
#include "decode/session.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "host_memory.hpp"
#include "watching_executor.hpp"

// No byte of a tensor comes from anywhere but the allocator: counted, not promised.

namespace arcalloc::decode {
namespace {

/// What a model, its tables and its caches take after so many positions, from its numbers alone.
std::uint64_t expected_bytes(const model_config& config, kv_mode kv, std::size_t positions) {
  const std::uint64_t weights = parameters(config) * sizeof(float);
  const std::uint64_t tables = 2 * config.sequence * (config.head_dim() / 2) * sizeof(float);
  const std::uint64_t rows = kv == kv_mode::concat ? positions : config.sequence;
  const std::uint64_t places = 2 * sizeof(std::int32_t);  // the token's and the position's
  return weights + tables + places + 2 * config.layers * rows * config.kv_dim() * sizeof(float);
}

class decode_memory : public testing::TestWithParam<kv_mode> {};

TEST_P(decode_memory, requested_bytes_are_the_tensors_bytes_after_every_token) {
  const named_config& named = find_config("demo-3m");
  host_backend device(256 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  const session_settings settings{.config_name = named.name, .tokens = 40, .context = 3, .kv = GetParam()};
  std::size_t calls = 0;
  const session_outcome outcome = run_session(*memory, settings, [&](std::size_t done) {
    ++calls;
    EXPECT_EQ(counters_of(*memory).requested_bytes, expected_bytes(named.config, GetParam(), 3 + done)) << done;
  });
  EXPECT_EQ(outcome.outcome, status::ok);
  EXPECT_EQ(calls, 41U);
  EXPECT_EQ(counters_of(*memory).requested_bytes, 0U);
}

TEST_P(decode_memory, every_operation_makes_one_request_and_every_request_is_freed) {
  const named_config& named = find_config("demo-3m");
  host_backend device(256 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  const session_settings settings{.config_name = named.name, .tokens = 10, .kv = GetParam()};
  const session_outcome outcome = run_session(*memory, settings, [](std::size_t) {});
  const std::uint64_t a_layer = GetParam() == kv_mode::concat ? 28 : 26;
  EXPECT_EQ(outcome.at_end.requests - outcome.at_decode_start.requests, 10 * (4 + named.config.layers * a_layer));
  EXPECT_EQ(outcome.at_end.requests - outcome.at_half.requests, 5 * (4 + named.config.layers * a_layer));
  EXPECT_EQ(outcome.at_end.steps, 10U);
  const counters after = counters_of(*memory);
  EXPECT_EQ(after.frees, after.requests);
  EXPECT_EQ(after.blocks_live, 0U);
}

TEST_P(decode_memory, a_decode_step_asks_nothing_of_the_hosts_heap) {
  const seeded_model source{find_config("demo-3m").config};
  host_backend device(256 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  tensor_source tensors{*memory, default_stream};
  host_executor compute;
  const operations ops{tensors, compute};
  const model llama{ops, source};
  kv_cache cache{ops, source.config(), GetParam()};
  tensor token = ops.index(1);
  for (int step = 0; step < 100; ++step) {
    const host_memory_watch watch;
    ops.index_of_greatest(llama.forward(token, cache), token);
    cache.advance(ops);
    memory->end_step();
    ASSERT_EQ(watch.requests(), 0U) << "step " << step << ", " << watch.bytes() << " bytes";
  }
}

INSTANTIATE_TEST_SUITE_P(kv, decode_memory, testing::Values(kv_mode::concat, kv_mode::preallocated),
                         [](const auto& each) {
                           return each.param == kv_mode::concat ? std::string("concat") : std::string("preallocated");
                         });

TEST(host_memory_watch, sees_what_it_is_there_to_see) {
  const host_memory_watch watch;
  // Called by name: a new expression, or a container's, may be left out by the compiler.
  void* volatile of_new = ::operator new(400);
  ::operator delete(of_new);
  EXPECT_EQ(watch.requests(), 1U);
  EXPECT_EQ(watch.bytes(), 400U);
  void* volatile of_malloc = std::malloc(1000);
  std::free(of_malloc);
  EXPECT_EQ(watch.requests(), 2U);
  EXPECT_EQ(watch.bytes(), 1400U);
}

/// Looks at every output as it is computed: it lies in memory that the allocator has from the device,
/// and at that moment the allocator's count of requested bytes is the tensors' own.
class witness final : public watching_executor {
 public:
  explicit witness(const tensor_source& tensors) : tensors_(tensors) {}

  void concatenate(tensor_input old_rows, tensor_input row, tensor_output out) override {
    // The old cache must be alive beside the new one: that is what growth by concatenation costs.
    EXPECT_NE(old_rows.data(), out.data());
    watching_executor::concatenate(old_rows, row, out);
  }

  [[nodiscard]] std::size_t seen() const noexcept { return seen_; }

 private:
  void before(tensor_input out) override {
    ++seen_;
    segment_extent home;
    ASSERT_EQ(tensors_.memory().locate(out.data(), home), status::ok);
    EXPECT_LE(home.offset_bytes + out.bytes(), home.bytes);
    EXPECT_EQ(static_cast<const char*>(home.base) + home.offset_bytes, reinterpret_cast<const char*>(out.data()));
    EXPECT_EQ(counters_of(tensors_.memory()).requested_bytes, tensors_.live_bytes());
  }

  const tensor_source& tensors_;
  std::size_t seen_ = 0;
};

TEST(decode_outputs, lie_in_memory_of_the_allocator_and_are_counted_to_the_byte) {
  for (const kv_mode kv : {kv_mode::concat, kv_mode::preallocated}) {
    const seeded_model source{small_config()};
    host_backend device(16 * mebibyte);
    const allocator_ptr memory = make_allocator(device);
    tensor_source tensors{*memory, default_stream};
    witness compute{tensors};
    const operations ops{tensors, compute};
    const model llama{ops, source};
    kv_cache cache{ops, source.config(), kv};
    cache.fill(ops, 2);
    tensor token = ops.index(1);
    llama.absorb(token, cache);
    cache.advance(ops);
    for (int step = 0; step < 20; ++step) {
      ops.index_of_greatest(llama.forward(token, cache), token);
      cache.advance(ops);
    }
    // Weights and tables 23; caches 4, and as many again to fill them in place; the position's place and its value
    // after that; the token's place; then 28 a layer, one outside it without logits, four with, the sampler and the
    // next position.
    EXPECT_EQ(compute.seen(), 23U + (kv == kv_mode::concat ? 4U : 8U) + 3U + (2U + 56U) + 20U * (6U + 56U));
  }
}

}  // namespace
}  // namespace arcalloc::decode
