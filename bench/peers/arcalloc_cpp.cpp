// SPDX-License-Identifier: Apache-2.0
// arcalloc through its C++ interface: blocks freed by their handle, or by their address. As shipped, but for the
// bound.
#include <arcalloc/allocator.hpp>
#include <stdexcept>

#include "../driven.hpp"
#include "peer_list.hpp"

namespace arcalloc::bench {

namespace {

class arcalloc_memory {
 public:
  arcalloc_memory(fake_driver& driver, std::uint64_t bound_bytes) : device_(driver) {
    options settings;
    settings.capacity_bytes = bound_bytes;
    if (allocator::create(device_, settings, memory_) != status::ok) throw std::runtime_error("no allocator");
  }
  ~arcalloc_memory() { allocator::destroy(memory_); }
  arcalloc_memory(const arcalloc_memory&) = delete;
  arcalloc_memory& operator=(const arcalloc_memory&) = delete;

  [[nodiscard]] allocator& get() noexcept { return *memory_; }

 private:
  fake_backend device_;
  allocator* memory_ = nullptr;
};

class by_handle {
 public:
  using piece = block;

  by_handle(fake_driver& driver, std::uint64_t bound_bytes) : memory_(driver, bound_bytes) {}
  bool allocate(std::size_t bytes, std::uint64_t on, piece& out) {
    return memory_.get().allocate(bytes, stream{on}, out) == status::ok;
  }
  bool deallocate(piece& out) { return memory_.get().deallocate(out) == status::ok; }

 private:
  arcalloc_memory memory_;
};

class by_pointer {
 public:
  using piece = void*;

  by_pointer(fake_driver& driver, std::uint64_t bound_bytes) : memory_(driver, bound_bytes) {}
  bool allocate(std::size_t bytes, std::uint64_t on, piece& out) {
    block made;
    const bool done = memory_.get().allocate(bytes, stream{on}, made) == status::ok;
    out = made.data();
    return done;
  }
  bool deallocate(piece& out) { return memory_.get().deallocate(out) == status::ok; }

 private:
  arcalloc_memory memory_;
};

}  // namespace

std::unique_ptr<subject> make_arcalloc_by_handle(fake_driver& driver, std::uint64_t bound_bytes) {
  return std::make_unique<driven<by_handle>>(driver, bound_bytes);
}

std::unique_ptr<subject> make_arcalloc_by_pointer(fake_driver& driver, std::uint64_t bound_bytes) {
  return std::make_unique<driven<by_pointer>>(driver, bound_bytes);
}

}  // namespace arcalloc::bench
