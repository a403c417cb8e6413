// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/adapters/cuda_resource.hpp>

#include "front_door.hpp"

namespace arcalloc::testing {

namespace {

static_assert(cuda::mr::resource<cuda_resource>);
static_assert(cuda::mr::async_resource<cuda_resource>);
static_assert(cuda::mr::resource_with<cuda_resource, cuda::mr::device_accessible>);
static_assert(!cuda::mr::resource_with<cuda_resource, cuda::mr::host_accessible>);

class by_resource final : public door_in_cpp {
 public:
  void* take(std::size_t bytes) override {
    try {
      return resource_.allocate(bytes);
    } catch (const refused&) {
      return nullptr;
    }
  }
  void give(void* address, std::size_t bytes) override { resource_.deallocate(address, bytes); }

 private:
  cuda_resource resource_{*memory_};
};

cuda::stream_ref some_stream() { return cuda::stream_ref(reinterpret_cast<cudaStream_t>(std::uintptr_t{0x70})); }

/// Stream-ordered, by the reference that CUDA's libraries pass around.
class by_async_ref final : public door_in_cpp {
 public:
  void* take(std::size_t bytes) override {
    try {
      return ref_.allocate_async(bytes, 256, some_stream());
    } catch (const refused&) {
      return nullptr;
    }
  }
  void give(void* address, std::size_t bytes) override { ref_.deallocate_async(address, bytes, 256, some_stream()); }

 private:
  cuda_resource resource_{*memory_};
  cuda::mr::async_resource_ref<cuda::mr::device_accessible> ref_{resource_};
};

INSTANTIATE_TEST_SUITE_P(cuda, front_door_contract,
                         ::testing::Values(door_named<by_resource>("resource"),
                                           door_named<by_async_ref>("async_resource_ref")),
                         name_of_door);

TEST(cuda_resource, says_why_it_refuses_and_compares_by_its_allocator) {
  const host_world at;
  const host_world other;
  cuda_resource resource(*at.memory);
  EXPECT_TRUE(resource == cuda_resource(*at.memory));
  EXPECT_FALSE(resource == cuda_resource(*other.memory));
  try {
    (void)resource.allocate(100, 2 * block_alignment);
    ADD_FAILURE() << "it was not refused";
  } catch (const refused& why) {
    EXPECT_EQ(why.outcome(), status::invalid_argument);
  }
  void* const address = resource.allocate(100);
  resource.deallocate(address, 100);
  EXPECT_THROW(resource.deallocate(address, 100), refused);
}

TEST(cuda_resource, the_default_streams_are_what_they_are_by_each_of_their_handles) {
  const host_world at;
  cuda_resource resource(*at.memory);
  const auto handle = [](std::uintptr_t number) { return cuda::stream_ref(reinterpret_cast<cudaStream_t>(number)); };
  // Each stream keeps a block out, so that its segment stays its own.
  void* const held[] = {resource.allocate_async(4096, handle(0)), resource.allocate_async(4096, handle(2))};
  void* const legacy = resource.allocate_async(4096, handle(1));
  resource.deallocate_async(legacy, 4096, handle(0));
  EXPECT_EQ(resource.allocate(4096), legacy);
  resource.deallocate(legacy, 4096);
  void* const own = resource.allocate_async(4096, handle(2));
  resource.deallocate_async(own, 4096, handle(2));
  block piece;
  ASSERT_EQ(at.memory->allocate(4096, per_thread_stream, piece), status::ok);
  EXPECT_EQ(piece.data(), own);
  EXPECT_EQ(at.memory->deallocate(piece), status::ok);
  resource.deallocate_async(held[0], 4096, handle(0));
  resource.deallocate_async(held[1], 4096, handle(2));
}

TEST(cuda_resource, streams_are_kept_apart) {
  const host_world at;
  cuda_resource resource(*at.memory);
  void* const held = resource.allocate_async(4096, some_stream());  // a segment wholly idle could go to any stream
  void* const first = resource.allocate_async(4096, some_stream());
  resource.deallocate_async(first, 4096, some_stream());
  void* const on_default = resource.allocate(4096);
  void* const again = resource.allocate(some_stream(), 4096);
  EXPECT_EQ(again, first);
  EXPECT_NE(on_default, first);
  resource.deallocate(some_stream(), again, 4096);
  resource.deallocate_sync(on_default, 4096);
  resource.deallocate_async(held, 4096, some_stream());
  EXPECT_EQ(at.now().blocks_live, 0U);
}

}  // namespace

}  // namespace arcalloc::testing
