// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/live_table.hpp"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <utility>

#include "trace/formats/range_set.hpp"

namespace arcalloc::trace {
namespace {

TEST(live_table, answers_as_a_map_would) {
  live_table table;
  std::map<std::pair<std::uint32_t, std::uint64_t>, std::uint64_t> model;
  std::mt19937_64 random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto device = static_cast<std::uint32_t>(random() % 3);
    const std::uint64_t id = (random() % 500) * 512;
    const auto known = model.find({device, id});
    if (random() % 2 == 0) {
      EXPECT_EQ(table.insert({id, 0, random() % 100, 0, static_cast<std::uint64_t>(i), device}), known == model.end());
      if (known == model.end()) model[{device, id}] = static_cast<std::uint64_t>(i);
    } else {
      const auto gone = table.take_out(device, id);
      ASSERT_EQ(gone.has_value(), known != model.end());
      if (gone) {
        EXPECT_EQ(gone->ordinal, known->second);
        model.erase(known);
      }
    }
    ASSERT_EQ(table.size(), model.size());
  }
  std::size_t seen = 0;
  table.for_each([&](const live_block& one) {
    ++seen;
    const live_block* const found = table.find(one.device, one.id);
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->ordinal, (model.at({one.device, one.id})));
  });
  EXPECT_EQ(seen, model.size());
}

TEST(range_set, answers_as_a_list_of_bytes_would) {
  constexpr std::size_t bytes = 64;
  std::mt19937 random(3);
  for (int run = 0; run < 200; ++run) {
    range_set set;
    std::vector<bool> model(bytes);
    for (int i = 0; i < 60; ++i) {
      const std::uint64_t begin = random() % bytes;
      const std::uint64_t end = begin + random() % (bytes - begin + 1);
      const bool is_added = random() % 3 != 0;
      is_added ? set.add({begin, end}) : set.remove({begin, end});
      for (std::uint64_t at = begin; at < end; ++at) model[at] = is_added;
      std::vector<bool> shown(bytes);
      std::uint64_t last_end = UINT64_MAX;
      for (const address_range one : set.all()) {
        ASSERT_LT(one.begin, one.end);
        ASSERT_NE(one.begin, last_end) << "ranges that touch are one";
        last_end = one.end;
        for (std::uint64_t at = one.begin; at < one.end; ++at) shown[at] = true;
      }
      ASSERT_EQ(shown, model);
      std::uint64_t missing = 0;
      const std::uint64_t from = random() % bytes;
      const std::uint64_t until = from + random() % (bytes - from + 1);
      for (const address_range one : set.missing_of({from, until})) {
        for (std::uint64_t at = one.begin; at < one.end; ++at) ASSERT_FALSE(model[at]);
        missing += one.end - one.begin;
      }
      std::uint64_t expected = 0;
      for (std::uint64_t at = from; at < until; ++at) expected += model[at] ? 0U : 1U;
      EXPECT_EQ(missing, expected);
      EXPECT_EQ(set.covers({from, until}), expected == 0);
    }
  }
}

}  // namespace
}  // namespace arcalloc::trace
