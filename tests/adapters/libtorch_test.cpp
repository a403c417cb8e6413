// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/adapters/libtorch.hpp>

#include "front_door.hpp"

namespace arcalloc::testing {

namespace {

class by_libtorch final : public door_in_cpp {
 public:
  void* take(std::size_t bytes) override {
    try {
      return torch_.raw_allocate(bytes);
    } catch (const c10::Error&) {
      return nullptr;
    }
  }
  void give(void* address, std::size_t /*bytes*/) override {
    torch_.raw_deallocate(address);
    EXPECT_EQ(torch_.last_refused_free(), status::ok);
  }

 private:
  libtorch_allocator torch_{*memory_};
};

INSTANTIATE_TEST_SUITE_P(libtorch, front_door_contract,
                         ::testing::Values(door_named<by_libtorch>("libtorch_allocator")), name_of_door);

class libtorch_test : public ::testing::Test, protected host_world {};

TEST_F(libtorch_test, memory_comes_and_goes_with_its_owner) {
  libtorch_allocator torch(*memory);
  {
    const c10::DataPtr owner = torch.allocate(5000);
    EXPECT_NE(owner.get(), nullptr);
    EXPECT_EQ(owner.device(), c10::Device(c10::DeviceType::CPU));
    EXPECT_EQ(now().requested_bytes, 5000U);
  }
  EXPECT_EQ(now().blocks_live, 0U);
  EXPECT_EQ(torch.last_refused_free(), status::ok);
}

TEST_F(libtorch_test, zero_bytes_are_null_and_no_request) {
  libtorch_allocator torch(*memory);
  EXPECT_EQ(torch.allocate(0).get(), nullptr);
  EXPECT_EQ(now().requests, 0U);
}

TEST_F(libtorch_test, a_refusal_names_its_status_and_the_bytes) {
  libtorch_allocator torch(*memory);
  try {
    (void)torch.allocate(std::size_t{65} << 20);
    ADD_FAILURE() << "it was not refused";
  } catch (const c10::Error& why) {
    EXPECT_NE(why.msg().find("arcalloc: device_out_of_memory for 68157440 bytes on cpu"), std::string::npos)
        << why.msg();
  }
}

TEST_F(libtorch_test, there_is_one_at_a_time) {
  {
    libtorch_allocator torch(*memory);
    EXPECT_THROW(libtorch_allocator{*memory}, c10::Error);
  }
  EXPECT_NO_THROW(libtorch_allocator{*memory});
}

TEST_F(libtorch_test, installed_it_is_the_one_that_libtorch_asks) {
  c10::Allocator* const before = c10::GetAllocator(c10::DeviceType::CPU);
  libtorch_allocator torch(*memory);
  torch.install();
  EXPECT_EQ(c10::GetAllocator(c10::DeviceType::CPU), &torch);
  c10::SetAllocator(c10::DeviceType::CPU, before, 255);
}

}  // namespace

}  // namespace arcalloc::testing
