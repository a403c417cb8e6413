// SPDX-License-Identifier: Apache-2.0
#include "decode/recording_executor.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "decode/configs.hpp"
#include "decode/host_executor.hpp"
#include "decode/model.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "host_memory.hpp"

namespace arcalloc::decode {
namespace {

class recording : public testing::Test {
 protected:
  host_backend device_{64 * mebibyte};
  allocator_ptr memory_ = make_allocator(device_);
  tensor_source tensors_{*memory_, default_stream};
  host_executor host_;
  recording_executor compute_{host_};
  operations ops_{tensors_, compute_};
};

TEST_F(recording, computes_at_once_when_it_does_not_record) {
  const tensor x = ops_.filled({.columns = 4}, constant_values{3});
  EXPECT_EQ(ops_.add(x, x).data()[3], 6.0F);
  compute_.start();
  EXPECT_EQ(compute_.stop().size(), 0U);
}

TEST_F(recording, takes_operations_down_without_computing_and_runs_them_on_what_is_there_then) {
  tensor x = ops_.filled({.columns = 4}, constant_values{3});
  tensor sum = ops_.filled({.columns = 4}, constant_values{-1});
  tensor doubled;
  compute_.start();
  doubled = ops_.add(x, x);
  std::memset(doubled.data(), 0, doubled.bytes());
  compute_.add(doubled, x, sum);
  const recorded_operations taken = compute_.stop();
  EXPECT_EQ(taken.size(), 2U);
  EXPECT_EQ(doubled.data()[0], 0.0F);
  EXPECT_EQ(sum.data()[0], -1.0F);
  taken.run(host_);
  EXPECT_EQ(sum.data()[0], 9.0F);
  for (std::size_t i = 0; i < 4; ++i) x.data()[i] = 5;
  taken.run(host_);
  EXPECT_EQ(doubled.data()[3], 10.0F);
  EXPECT_EQ(sum.data()[3], 15.0F);
}

TEST_F(recording, the_hosts_part_in_a_step_is_refused_while_it_records) {
  tensor x = ops_.filled({.columns = 4}, constant_values{3});
  tensor place = ops_.index(1);
  compute_.start();
  EXPECT_THROW(ops_.fill_rows(x, 1, constant_values{4}), std::logic_error);
  EXPECT_THROW(ops_.write_index(place, 2), std::logic_error);
  EXPECT_THROW(static_cast<void>(ops_.read_index(place)), std::logic_error);
  EXPECT_THROW(compute_.start(), std::logic_error);
  EXPECT_EQ(compute_.stop().size(), 0U);
  EXPECT_EQ(ops_.read_index(place), 1);
}

TEST_F(recording, a_whole_step_repeats_itself_from_its_places_and_asks_for_no_memory) {
  const seeded_model source{small_config()};
  const model llama{ops_, source};
  kv_cache cache{ops_, source.config(), kv_mode::preallocated};
  kv_cache eager_cache{ops_, source.config(), kv_mode::preallocated};
  tensor token = ops_.index(1);
  tensor eager_token = ops_.index(1);
  compute_.start();
  // Kept until the end of the test, where a graph would have its memory pinned.
  tensor logits = llama.forward(token, cache, attention_span::whole);
  ops_.index_of_greatest(logits, token);
  const recorded_operations step = compute_.stop();
  EXPECT_EQ(step.size(), 1U + 2U * 28U + 4U);
  for (std::size_t position = 0; position < source.config().sequence; ++position) {
    ops_.index_of_greatest(llama.forward(eager_token, eager_cache), eager_token);
    eager_cache.advance(ops_);
    const std::uint64_t requests = counters_of(*memory_).requests;
    {
      const host_memory_watch watch;
      step.run(host_);
      EXPECT_EQ(watch.requests(), 0U);
    }
    EXPECT_EQ(counters_of(*memory_).requests, requests);
    cache.advance(ops_);
    ASSERT_EQ(ops_.read_index(token), ops_.read_index(eager_token)) << position;
  }
}

}  // namespace
}  // namespace arcalloc::decode
