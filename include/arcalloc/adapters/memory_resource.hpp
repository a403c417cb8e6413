// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory_resource>
#include <mutex>

#include <arcalloc/adapters/refused.hpp>
#include <arcalloc/allocator.hpp>

namespace arcalloc {

/// The blocks of one allocator on one stream, for whatever takes a std::pmr::memory_resource.
///
/// Called by containers and by other resources, on any thread; calls the allocator, which must outlive it, and its
/// blocks too. Containers touch their memory: over a device whose memory the host cannot reach, take only what does
/// not, such as a pool of raw buffers.
/// Cost: that of allocate and of a deallocate by address. An alignment above block_alignment costs the difference in
/// bytes, a lock, and a note in host memory until the free. Zero bytes are one.
/// It does not release everything at its end: what a caller has not freed stays out.
class memory_resource final : public std::pmr::memory_resource, public free_refusals {
 public:
  explicit memory_resource(allocator& from, stream on = default_stream) noexcept : from_(&from), on_(on) {}

  [[nodiscard]] allocator& source() const noexcept { return *from_; }
  [[nodiscard]] stream on() const noexcept { return on_; }

 private:
  /// Throws `refused`; with invalid_argument for an alignment that is no power of two.
  void* do_allocate(std::size_t bytes, std::size_t alignment) override {
    if (!std::has_single_bit(alignment)) throw refused(status::invalid_argument);
    return alignment <= block_alignment ? take(size_of(bytes)) : take_shifted(size_of(bytes), alignment);
  }

  void do_deallocate(void* address, std::size_t bytes, std::size_t alignment) override {
    const status outcome = alignment <= block_alignment ? from_->deallocate(address, size_of(bytes))
                                                        : from_->deallocate(forget_shifted(address));
    note_free(outcome);
  }

  /// Equal where one may free what the other handed out and it is the same queue of work.
  [[nodiscard]] bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    const auto* const same = dynamic_cast<const memory_resource*>(&other);
    return same != nullptr && same->from_ == from_ && same->on_ == on_;
  }

  /// A resource's answer to zero bytes is a place of its own, while the allocator's is no block.
  static std::size_t size_of(std::size_t bytes) noexcept { return bytes == 0 ? 1 : bytes; }

  void* take(std::size_t bytes) {
    block piece;
    const status outcome = from_->allocate(bytes, on_, piece);
    if (outcome != status::ok) throw refused(outcome);
    return piece.data();
  }

  /// A block begins at a multiple of block_alignment alone: a longer one has a place in it that will do.
  void* take_shifted(std::size_t bytes, std::size_t alignment) {
    if (bytes > request_bytes_max || alignment > request_bytes_max) throw refused(status::request_too_large);
    void* const start = take(bytes + alignment - block_alignment);
    const std::uintptr_t place = (reinterpret_cast<std::uintptr_t>(start) + alignment - 1) & ~(alignment - 1);
    void* const address = static_cast<std::byte*>(start) + (place - reinterpret_cast<std::uintptr_t>(start));
    try {
      const std::lock_guard guard(mutex_);
      start_of_[address] = start;
    } catch (...) {
      static_cast<void>(from_->deallocate(start));
      throw;
    }
    return address;
  }

  /// The block's own address; of what is not one of these, the address, which the allocator will refuse.
  void* forget_shifted(void* address) noexcept {
    const std::lock_guard guard(mutex_);
    const auto noted = start_of_.find(address);
    if (noted == start_of_.end()) return address;
    void* const start = noted->second;
    start_of_.erase(noted);
    return start;
  }

  allocator* from_;
  stream on_;
  std::mutex mutex_;                 // guards the map
  std::map<void*, void*> start_of_;  // of blocks with a larger alignment
};

}  // namespace arcalloc
