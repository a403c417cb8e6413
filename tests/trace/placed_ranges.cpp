// SPDX-License-Identifier: Apache-2.0
#include "placed_ranges.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <random>

namespace arcalloc::trace::test {

namespace {

using ranges = std::map<std::uint64_t, std::uint64_t>;  ///< address, bytes

std::uint64_t drawn_size(std::minstd_rand& dice) {
  const std::uint64_t most = std::uint64_t{1} << (3 + dice() % 22);
  return 1 + dice() % most;
}

void expect_apart(const ranges& out, ranges::const_iterator fresh) {
  if (fresh != out.begin()) {
    const auto before = std::prev(fresh);
    EXPECT_LE(before->first + before->second, fresh->first);
  }
  const auto after = std::next(fresh);
  if (after != out.end()) {
    EXPECT_LE(fresh->first + fresh->second, after->first);
  }
}

}  // namespace

void expect_blocks_apart(peer_policy& rules, const model_device& device) {
  std::minstd_rand dice(7);
  ranges out;
  std::uint64_t served = 0;
  for (int i = 0; i < 20'000; ++i) {
    if (out.empty() || dice() % 16 < (out.size() < 40 ? 10U : 6U)) {
      const std::uint64_t bytes = drawn_size(dice);
      const auto address = rules.allocate(bytes, dice() % 3);
      if (!address) continue;  // full
      ++served;
      const auto [fresh, is_new] = out.emplace(*address, rules.rounded(bytes));
      ASSERT_TRUE(is_new) << "handed out twice: " << *address;
      expect_apart(out, fresh);
    } else {
      const auto chosen = std::next(out.begin(), static_cast<std::ptrdiff_t>(dice() % out.size()));
      if (dice() % 4 == 0) rules.note_use(chosen->first, dice() % 3);
      rules.deallocate(chosen->first);
      out.erase(chosen);
    }
    std::uint64_t asked = 0;
    for (const auto& [address, bytes] : out) asked += bytes;
    const peer_bytes now = rules.bytes();
    ASSERT_LE(asked, now.allocated);
    ASSERT_LE(now.allocated + now.pending + now.cached, device.reserved_bytes());
  }
  EXPECT_GT(served, 5'000U);
  for (const auto& [address, bytes] : out) rules.deallocate(address);
  EXPECT_EQ(rules.bytes().allocated, 0U);
}

}  // namespace arcalloc::trace::test
