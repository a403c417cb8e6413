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

// No byte of a tensor comes from anywhere but the allocator: counted, not promised.

namespace arcalloc::decode {
namespace {

/// What a model, its tables and its caches take after so many positions, from its numbers alone.
std::uint64_t expected_bytes(const model_config& config, kv_mode kv, std::size_t positions) {
  const std::uint64_t weights = parameters(config) * sizeof(float);
  const std::uint64_t tables = 2 * config.sequence * (config.head_dim() / 2) * sizeof(float);
  const std::uint64_t rows = kv == kv_mode::concat ? positions : config.sequence;
  return weights + tables + 2 * config.layers * rows * config.kv_dim() * sizeof(float);
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
  std::int32_t token = 1;
  for (int step = 0; step < 100; ++step) {
    const host_memory_watch watch;
    token = ops.index_of_greatest(llama.forward(token, cache));
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
class witness final : public executor {
 public:
  explicit witness(const tensor_source& tensors) : tensors_(tensors) {}

  void fill(tensor& out, std::size_t count, const value_source& values) override {
    see(out);
    host_.fill(out, count, values);
  }
  void gather_row(const tensor& table, std::size_t row, tensor& out) override {
    see(out);
    host_.gather_row(table, row, out);
  }
  void mean_of_squares(const tensor& x, tensor& out) override {
    see(out);
    host_.mean_of_squares(x, out);
  }
  void normalise(const tensor& x, const tensor& mean, const tensor& weight, tensor& out) override {
    see(out);
    host_.normalise(x, mean, weight, out);
  }
  void matrix_vector(const tensor& weight, const tensor& x, tensor& out) override {
    see(out);
    host_.matrix_vector(weight, x, out);
  }
  void rotate_pairs(const tensor& x, const tensor& cosines, const tensor& sines, tensor& out) override {
    see(out);
    host_.rotate_pairs(x, cosines, sines, out);
  }
  void concatenate(const tensor& before, const tensor& row, tensor& out) override {
    see(out);
    // The old cache must be alive beside the new one: that is what growth by concatenation costs.
    EXPECT_NE(before.data(), out.data());
    host_.concatenate(before, row, out);
  }
  void write_row(tensor& table, std::size_t index, const tensor& row) override {
    see(table);
    host_.write_row(table, index, row);
  }
  void expand_heads(const tensor& cache, tensor& out) override {
    see(out);
    host_.expand_heads(cache, out);
  }
  void scores(const tensor& keys, const tensor& query, tensor& out) override {
    see(out);
    host_.scores(keys, query, out);
  }
  void scale(const tensor& x, float factor, tensor& out) override {
    see(out);
    host_.scale(x, factor, out);
  }
  void softmax_rows(const tensor& x, tensor& out) override {
    see(out);
    host_.softmax_rows(x, out);
  }
  void weighted_sum(const tensor& weights, const tensor& values, tensor& out) override {
    see(out);
    host_.weighted_sum(weights, values, out);
  }
  void swap_outer(const tensor& x, tensor& out) override {
    see(out);
    host_.swap_outer(x, out);
  }
  void add(const tensor& left, const tensor& right, tensor& out) override {
    see(out);
    host_.add(left, right, out);
  }
  void multiply(const tensor& left, const tensor& right, tensor& out) override {
    see(out);
    host_.multiply(left, right, out);
  }
  void silu(const tensor& x, tensor& out) override {
    see(out);
    host_.silu(x, out);
  }
  [[nodiscard]] std::int32_t index_of_greatest(const tensor& x) override {
    see(x);
    return host_.index_of_greatest(x);
  }

  [[nodiscard]] std::size_t seen() const noexcept { return seen_; }

 private:
  void see(const tensor& out) {
    ++seen_;
    segment_extent home;
    ASSERT_EQ(tensors_.memory().locate(out.data(), home), status::ok);
    EXPECT_LE(home.offset_bytes + out.bytes(), home.bytes);
    EXPECT_EQ(static_cast<const char*>(home.base) + home.offset_bytes, reinterpret_cast<const char*>(out.data()));
    EXPECT_EQ(counters_of(tensors_.memory()).requested_bytes, tensors_.live_bytes());
  }

  const tensor_source& tensors_;
  host_executor host_;
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
    llama.absorb(1, cache);
    std::int32_t token = 5;
    for (int step = 0; step < 20; ++step) token = ops.index_of_greatest(llama.forward(token, cache));
    // Weights and tables 23; caches 4, and as many again to fill them in place; then 28 a layer, one outside
    // it without logits, four with, and the sampler.
    EXPECT_EQ(compute.seen(), 23U + (kv == kv_mode::concat ? 4U : 8U) + (1U + 56U) + 20U * (5U + 56U));
  }
}

}  // namespace
}  // namespace arcalloc::decode
