// SPDX-License-Identifier: Apache-2.0
// The hand-over rule of the simulated device, case by case, without an allocator in between.
#include <gtest/gtest.h>
#include <arcalloc/sim_backend.hpp>

#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;

class hand_over : public ::testing::Test {
 protected:
  void SetUp() override {
    void* address = nullptr;
    ASSERT_EQ(device_.allocate(mib, s1, address), status::ok);
    at_ = static_cast<char*>(address);
  }
  void own(stream on) {
    device_.handed_out(on, at_, mib);
    device_.use(on, at_, mib);
    device_.handed_back(at_);
  }
  [[nodiscard]] std::size_t convictions() const { return device_.convictions().size(); }

  sim_backend device_;
  char* at_ = nullptr;
};

TEST_F(hand_over, on_one_stream_needs_nothing) {
  device_.busy(s1);
  own(s1);
  own(s1);
  EXPECT_EQ(convictions(), 0U);
}

TEST_F(hand_over, to_another_stream_needs_the_work_finished_or_ordered) {
  device_.busy(s1);
  own(s1);
  own(s2);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(hand_over, is_right_after_a_device_wait) {
  device_.busy(s1);
  own(s1);
  device_.wait(s2, s1);
  own(s2);
  EXPECT_EQ(convictions(), 0U);
}

TEST_F(hand_over, is_wrong_after_a_wait_that_came_before_the_work) {
  device_.busy(s1);
  device_.wait(s2, s1);
  own(s1);
  own(s2);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(hand_over, is_right_through_a_chain_and_wrong_beside_it) {
  device_.busy(s1);
  own(s1);
  device_.wait(s2, s1);
  own(s2);
  device_.finish(s2);
  own(s3);
  EXPECT_EQ(convictions(), 1U) << "s1's work is not before s3, whoever was in between";
  device_.wait(s3, s2);
  own(s3);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(hand_over, through_an_owner_that_did_nothing_still_needs_the_first_ones_work) {
  device_.busy(s1);
  own(s1);
  device_.wait(s2, s1);
  device_.handed_out(s2, at_, mib);
  device_.handed_back(at_);
  device_.handed_out(s3, at_, mib);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(hand_over, back_to_the_first_stream_needs_only_what_was_done_in_between) {
  device_.busy(s1);
  own(s1);
  device_.wait(s2, s1);
  device_.handed_out(s2, at_, mib);
  device_.handed_back(at_);
  own(s1);
  EXPECT_EQ(convictions(), 0U);
}

TEST_F(hand_over, looks_at_the_range_and_not_at_what_lies_beside_it) {
  device_.busy(s1);
  device_.use(s1, at_, mib / 2);
  device_.handed_out(s2, at_ + mib / 2, mib / 2);
  EXPECT_EQ(convictions(), 0U);
  device_.handed_out(s2, at_ + mib / 2 - 512, 512);
  EXPECT_EQ(convictions(), 1U);
}

TEST_F(hand_over, does_not_judge_streams_that_share_a_block) {
  device_.busy(s1);
  device_.busy(s2);
  device_.handed_out(s1, at_, mib);
  device_.use(s1, at_, mib);
  device_.use(s2, at_, mib);
  device_.use(s1, at_, mib);
  EXPECT_EQ(convictions(), 0U);
  device_.handed_back(at_);
  device_.handed_out(s1, at_, mib);
  EXPECT_EQ(convictions(), 1U) << "the next owner's stream is not after s2";
}

TEST_F(hand_over, over_part_of_a_block_that_is_out_is_convicted_from_either_side) {
  device_.handed_out(s1, at_ + 4096, 8192);
  device_.handed_out(s1, at_, 4096);
  device_.handed_out(s1, at_ + 12288, 4096);
  EXPECT_EQ(convictions(), 0U);
  device_.handed_out(s1, at_ + 8192, 512);
  EXPECT_EQ(convictions(), 1U);
  device_.handed_out(s1, at_ + 16384 - 512, 1024);
  EXPECT_EQ(convictions(), 2U);
  device_.handed_out(s1, at_ + mib - 512, 1024);
  EXPECT_EQ(convictions(), 3U) << "beyond what is lent";
}

TEST_F(hand_over, of_a_block_that_is_not_out_cannot_be_taken_back) {
  device_.handed_back(at_);
  device_.handed_back(nullptr);
  EXPECT_EQ(convictions(), 1U);
}

}  // namespace
}  // namespace arcalloc
