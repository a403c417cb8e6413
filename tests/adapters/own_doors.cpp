// SPDX-License-Identifier: Apache-2.0
// arcalloc's own doors: by handle, by address, and by the C ABI.
#include <arcalloc/arcalloc.h>

#include <map>
#include <mutex>

#include "front_door.hpp"

namespace arcalloc::testing {

namespace {

/// Who calls by handle keeps the handles; this one finds them by address.
class by_handle final : public door_in_cpp {
 public:
  void* take(std::size_t bytes) override {
    block piece;
    if (memory_->allocate(bytes, default_stream, piece) != status::ok) return nullptr;
    const std::lock_guard guard(mutex_);
    out_[piece.data()] = piece;
    return piece.data();
  }

  void give(void* address, std::size_t /*bytes*/) override {
    block piece;
    {
      const std::lock_guard guard(mutex_);
      piece = out_[address];
      out_.erase(address);
    }
    EXPECT_EQ(memory_->deallocate(piece), status::ok);
  }

 private:
  std::mutex mutex_;
  std::map<void*, block> out_;
};

class by_address final : public door_in_cpp {
 public:
  void* take(std::size_t bytes) override {
    block piece;
    return memory_->allocate(bytes, default_stream, piece) == status::ok ? piece.data() : nullptr;
  }
  void give(void* address, std::size_t bytes) override { EXPECT_EQ(memory_->deallocate(address, bytes), status::ok); }
};

class in_c final : public front_door {
 public:
  in_c() {
    EXPECT_EQ(arcalloc_host_device_create(door_device_bytes, &device_), ARCALLOC_OK);
    EXPECT_EQ(arcalloc_create(device_, nullptr, &memory_), ARCALLOC_OK);
  }
  ~in_c() override {
    arcalloc_destroy(memory_);
    EXPECT_EQ(arcalloc_device_destroy(device_), ARCALLOC_OK);
  }

  void* take(std::size_t bytes) override {
    arcalloc_block piece{};
    return arcalloc_allocate(memory_, bytes, 0, &piece) == ARCALLOC_OK ? piece.address : nullptr;
  }
  void give(void* address, std::size_t bytes) override {
    EXPECT_EQ(arcalloc_deallocate_address_sized(memory_, address, bytes), ARCALLOC_OK);
  }
  [[nodiscard]] counters now() const override {
    counters read{};
    read.size = sizeof read;
    EXPECT_EQ(arcalloc_read_counters(memory_, &read), ARCALLOC_OK);
    return read;
  }
  void drain() override { EXPECT_EQ(arcalloc_drain(memory_), ARCALLOC_OK); }

 private:
  arcalloc_device* device_ = nullptr;
  arcalloc_allocator* memory_ = nullptr;
};

INSTANTIATE_TEST_SUITE_P(own, front_door_contract,
                         ::testing::Values(door_named<by_handle>("by_handle"), door_named<by_address>("by_address"),
                                           door_named<in_c>("in_c")),
                         name_of_door);

}  // namespace

}  // namespace arcalloc::testing
