// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/adapters/memory_resource.hpp>

#include <algorithm>
#include <cstring>
#include <deque>
#include <list>
#include <string>
#include <vector>

#include "front_door.hpp"

namespace arcalloc::testing {

namespace {

class by_memory_resource final : public door_in_cpp {
 public:
  void* take(std::size_t bytes) override {
    try {
      return resource_.allocate(bytes);
    } catch (const std::bad_alloc&) {
      return nullptr;
    }
  }
  void give(void* address, std::size_t bytes) override { resource_.deallocate(address, bytes); }

 private:
  memory_resource resource_{*memory_};
};

INSTANTIATE_TEST_SUITE_P(pmr, front_door_contract, ::testing::Values(door_named<by_memory_resource>("memory_resource")),
                         name_of_door);

class memory_resource_test : public ::testing::Test, protected host_world {};

TEST_F(memory_resource_test, containers_live_in_it_and_leave_nothing) {
  memory_resource resource(*memory);
  {
    std::pmr::vector<int> numbers(&resource);
    for (int i = 0; i < 10000; ++i) numbers.push_back(i);
    std::pmr::list<std::pmr::string> names(&resource);
    for (int i = 0; i < 50; ++i) names.emplace_back("a name that is too long for the string itself");
    EXPECT_EQ(numbers[9999], 9999);
    EXPECT_EQ(names.back().get_allocator().resource(), &resource);
    EXPECT_GE(now().blocks_live, 101U);
  }
  EXPECT_EQ(now().blocks_live, 0U);
  EXPECT_EQ(resource.last_refused_free(), status::ok);
}

TEST_F(memory_resource_test, stands_below_other_resources) {
  memory_resource resource(*memory);
  {
    std::pmr::unsynchronized_pool_resource pool(&resource);
    std::pmr::deque<std::uint64_t> numbers(&pool);
    for (std::uint64_t i = 0; i < 100000; ++i) numbers.push_back(i);
    EXPECT_EQ(numbers[77777], 77777U);
    EXPECT_GT(now().blocks_live, 0U);
  }
  EXPECT_EQ(now().blocks_live, 0U);
}

TEST_F(memory_resource_test, zero_bytes_have_a_place_of_their_own) {
  memory_resource resource(*memory);
  void* const one = resource.allocate(0);
  void* const other = resource.allocate(0);
  EXPECT_NE(one, nullptr);
  EXPECT_NE(one, other);
  resource.deallocate(one, 0);
  resource.deallocate(other, 0);
  EXPECT_EQ(now().blocks_live, 0U);
}

TEST_F(memory_resource_test, larger_alignments_are_kept_and_freed) {
  memory_resource resource(*memory);
  for (std::size_t alignment = 1024; alignment <= std::size_t{4} << 20; alignment *= 2) {
    void* const address = resource.allocate(5000, alignment);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % alignment, 0U);
    std::memset(address, 1, 5000);
    void* const other = resource.allocate(5000, alignment);
    EXPECT_GE(std::max(address, other), static_cast<void*>(static_cast<std::byte*>(std::min(address, other)) + 5000));
    resource.deallocate(address, 5000, alignment);
    resource.deallocate(address, 5000, alignment);
    EXPECT_NE(resource.last_refused_free(), status::ok) << "it is out no more";
    resource.deallocate(other, 5000, alignment);
    EXPECT_EQ(now().blocks_live, 0U);
  }
}

TEST_F(memory_resource_test, a_refusal_says_why) {
  memory_resource resource(*memory);
  try {
    (void)resource.allocate(std::size_t{65} << 20);
    ADD_FAILURE() << "it was not refused";
  } catch (const refused& why) {
    EXPECT_EQ(why.outcome(), status::device_out_of_memory);
    EXPECT_STREQ(why.what(), "device_out_of_memory");
  }
  try {
    volatile std::size_t no_power_of_two = 3 * block_alignment;
    (void)resource.allocate(64, no_power_of_two);
    ADD_FAILURE() << "it was not refused";
  } catch (const refused& why) {
    EXPECT_EQ(why.outcome(), status::invalid_argument);
  }
  EXPECT_EQ(now().requests, 1U) << "an alignment that is none is no request";
}

TEST_F(memory_resource_test, a_free_that_is_refused_is_remembered_and_counted) {
  memory_resource resource(*memory);
  void* const address = resource.allocate(100);
  resource.deallocate(address, 200);
  EXPECT_EQ(resource.last_refused_free(), status::invalid_argument);
  EXPECT_EQ(now().blocks_live, 1U);
  resource.deallocate(address, 100);
  resource.deallocate(address, 100);
  EXPECT_EQ(resource.last_refused_free(), status::double_free);
  EXPECT_EQ(now().refused_double_free, 1U);
}

TEST_F(memory_resource_test, equal_are_those_of_one_allocator_and_stream) {
  const host_world other;
  const memory_resource one(*memory);
  EXPECT_TRUE(one == memory_resource(*memory));
  EXPECT_FALSE(one == memory_resource(*other.memory));
  EXPECT_FALSE(one == memory_resource(*memory, stream{7}));
  EXPECT_FALSE(one == *std::pmr::new_delete_resource());
  EXPECT_EQ(&one.source(), memory.get());
  EXPECT_EQ(memory_resource(*memory, stream{7}).on(), stream{7});
}

}  // namespace

}  // namespace arcalloc::testing
