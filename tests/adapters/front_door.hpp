// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/host_backend.hpp>

#include <functional>
#include <memory>
#include <string>

namespace arcalloc::testing {

inline constexpr std::uint64_t door_device_bytes = std::uint64_t{64} << 20;

/// One way of asking an allocator for memory: the C++ interface, the C ABI, or an adapter to somebody else's. It has
/// its allocator to itself, over door_device_bytes of host memory, with the options as shipped.
class front_door {
 public:
  front_door() = default;
  front_door(const front_door&) = delete;
  front_door& operator=(const front_door&) = delete;
  virtual ~front_door() = default;

  /// Null where the way refuses, by whatever means it has: a status, an exception, a null.
  [[nodiscard]] virtual void* take(std::size_t bytes) = 0;
  virtual void give(void* address, std::size_t bytes) = 0;

  [[nodiscard]] virtual counters now() const = 0;
  virtual void drain() = 0;
};

/// An allocator as shipped, over host memory of its own.
struct host_world {
  host_world();
  [[nodiscard]] counters now() const;

  host_backend device{door_device_bytes};
  allocator_ptr memory;
};

/// What the doors in C++ stand on.
class door_in_cpp : public front_door {
 public:
  [[nodiscard]] counters now() const override { return at_.now(); }
  void drain() override;

 protected:
  host_world at_;
  allocator* memory_ = at_.memory.get();
};

/// A door that the contract is tried on: a small file makes one, and instantiates the suite with it.
struct door_candidate {
  std::string name;
  std::function<std::unique_ptr<front_door>()> make;
};

/// What every door owes its callers, whatever lies between.
class front_door_contract : public ::testing::TestWithParam<door_candidate> {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] void* must_take(std::size_t bytes);
  [[nodiscard]] counters now() const { return door_->now(); }

  std::unique_ptr<front_door> door_;
};

/// One door of a type that needs no arguments.
template <class Door>
[[nodiscard]] door_candidate door_named(const char* name) {
  return {name, [] { return std::make_unique<Door>(); }};
}

[[nodiscard]] inline std::string name_of_door(const ::testing::TestParamInfo<door_candidate>& info) {
  return info.param.name;
}

}  // namespace arcalloc::testing
