// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "decode/session.hpp"
#include "devices.hpp"
#include "files.hpp"

namespace arcalloc::decode {
namespace {

TEST(small_device, an_unbounded_exact_cache_dies_at_a_token_and_the_default_survives) {
  const session_settings settings{.config_name = "demo-3m", .tokens = 150};
  const std::uint64_t device_bytes = 48 * mebibyte;

  host_backend small(device_bytes);
  const allocator_ptr bounded = make_allocator(small);
  const session_outcome survived = run_session(*bounded, settings, [](std::size_t) {});
  EXPECT_EQ(survived.outcome, status::ok);
  EXPECT_EQ(survived.tokens_done, 150U);

  host_backend other(device_bytes);
  const allocator_ptr unbounded = make_allocator(other, options_unbounded());
  std::size_t last_call = 0;
  const session_outcome died = run_session(*unbounded, settings, [&](std::size_t done) { last_call = done; });
  EXPECT_EQ(died.outcome, status::device_out_of_memory);
  // 12 growing buffers of 512 bytes a position: 48 MiB less the weights are full after about 110 tokens.
  EXPECT_GT(died.tokens_done, 60U);
  EXPECT_LT(died.tokens_done, 140U);
  EXPECT_EQ(died.tokens_done, last_call);
  EXPECT_EQ(died.tokens.size(), died.tokens_done);
  EXPECT_TRUE(std::equal(died.tokens.begin(), died.tokens.end(), survived.tokens.begin()));
  EXPECT_EQ(died.at_end.steps, died.tokens_done);
  EXPECT_EQ(died.at_end.failed_device_out_of_memory, 1U);
  EXPECT_GT(died.at_end.blocks_live, 0U);  // read while the weights are there
  EXPECT_EQ(counters_of(*unbounded).blocks_live, 0U);
}

TEST(small_device, one_too_small_for_the_weights_ends_before_the_first_token) {
  host_backend device(4 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  std::size_t calls = 0;
  const session_outcome outcome =
      run_session(*memory, {.config_name = "demo-3m", .tokens = 5}, [&](std::size_t) { ++calls; });
  EXPECT_EQ(outcome.outcome, status::device_out_of_memory);
  EXPECT_EQ(outcome.tokens_done, 0U);
  EXPECT_EQ(calls, 0U);
  EXPECT_EQ(outcome.at_decode_start.requests, 0U);
  EXPECT_EQ(counters_of(*memory).blocks_live, 0U);
}

/// Refuses the n-th driver request, for every n there is: the run ends with that status and what it
/// had until then, and nothing is left out.
TEST(every_refusal, leaves_a_prefix_of_the_tokens_and_frees_everything) {
  const temporary_directory directory;
  const std::string model = directory.write("model.bin", model_bytes(small_config()));
  const std::string tokenizer = directory.write("tokenizer.bin", tokenizer_bytes(small_pieces()));
  for (const kv_mode kv : {kv_mode::concat, kv_mode::preallocated}) {
    const session_settings settings{
        .model_path = model, .tokenizer_path = tokenizer, .prompt = "the a", .tokens = 3, .context = 2, .kv = kv};
    std::vector<std::int32_t> expected;
    std::size_t done_before = 0;
    for (std::uint64_t refuse_from = 1;; ++refuse_from) {
      refusing_backend device(16 * mebibyte, refuse_from);
      {
        const allocator_ptr memory = make_allocator(device, options_off());
        const session_outcome outcome = run_session(*memory, settings, [](std::size_t) {});
        EXPECT_EQ(counters_of(*memory).blocks_live, 0U);
        EXPECT_EQ(counters_of(*memory).requested_bytes, 0U);
        ASSERT_LE(outcome.tokens_done, 3U);
        ASSERT_EQ(outcome.tokens.size(), outcome.tokens_done);
        ASSERT_GE(outcome.tokens_done, done_before);
        done_before = outcome.tokens_done;
        // Each run gets at least as far as the one before: what that one made must come again.
        ASSERT_TRUE(std::equal(expected.begin(), expected.end(), outcome.tokens.begin()));
        expected = outcome.tokens;
        if (outcome.outcome == status::ok) {
          EXPECT_EQ(outcome.tokens_done, 3U);
          EXPECT_GT(refuse_from, 23U + 3U * 60U);
          break;
        }
        ASSERT_EQ(outcome.outcome, status::device_out_of_memory) << refuse_from;
      }
      ASSERT_EQ(device.lent_bytes(), 0U) << refuse_from;
    }
  }
}

}  // namespace
}  // namespace arcalloc::decode
