// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#if __has_include(<torch/version.h>)
#include <torch/version.h>
#endif

#include <atomic>
#include <cstring>

#include <arcalloc/adapters/refused.hpp>
#include <arcalloc/allocator.hpp>

namespace arcalloc {

/// The memory of libtorch's tensors from an allocator, through c10::Allocator. Built against 1.13, and written for the
/// later interface too, in which allocate is not const (2.3) and copy_data is asked for (2.2).
///
/// Called by libtorch for every tensor, on any thread; calls the allocator, which must outlive every tensor made of it.
/// One in a process: libtorch's deleters are bare functions, so that what a tensor leaves behind finds its way back by
/// way of the one that there is. Frees are on the stream it was made with; work that others have on a tensor's memory
/// is told to the allocator by note_use.
/// Cost: that of allocate and of a deallocate by address. A refusal throws c10::Error, which names the status and
/// the bytes.
class libtorch_allocator final : public c10::Allocator, public free_refusals {
 public:
  /// Throws c10::Error while there is another one.
  libtorch_allocator(allocator& from, c10::Device device = c10::DeviceType::CPU, stream on = default_stream)
      : from_(&from), device_(device), on_(on) {
    libtorch_allocator* none = nullptr;
    TORCH_CHECK(only_.compare_exchange_strong(none, this), "arcalloc: there is a libtorch_allocator already");
  }
  libtorch_allocator(const libtorch_allocator&) = delete;
  libtorch_allocator& operator=(const libtorch_allocator&) = delete;
  ~libtorch_allocator() override { only_.store(nullptr); }

  /// Has libtorch ask this one for tensors of the device's type from now on, for as long as the process lives.
  void install() { c10::SetAllocator(device_.type(), this, 255); }

  [[nodiscard]] c10::DeleterFnPtr raw_deleter() const override { return &give_back; }

  // An override from 2.2 on, and before that a function that nobody calls.
  // NOLINTNEXTLINE(modernize-use-override)
  void copy_data(void* to, const void* from, std::size_t bytes) const { std::memcpy(to, from, bytes); }

#if defined(TORCH_VERSION_MAJOR) && (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3))
  c10::DataPtr allocate(std::size_t bytes) override { return take(bytes); }
#else
  c10::DataPtr allocate(std::size_t bytes) const override { return take(bytes); }
#endif

 private:
  [[nodiscard]] c10::DataPtr take(std::size_t bytes) const {
    block piece;
    const status outcome = from_->allocate(bytes, on_, piece);
    TORCH_CHECK(outcome == status::ok, "arcalloc: ", status_name(outcome), " for ", bytes, " bytes on ", device_);
    return {piece.data(), piece.data(), &give_back, device_};
  }

  static void give_back(void* address) noexcept {
    libtorch_allocator* const only = only_.load();
    if (only == nullptr) return;  // gone, and its blocks with their allocator
    only->note_free(only->from_->deallocate(address, only->on_));
  }

  inline static std::atomic<libtorch_allocator*> only_{nullptr};

  arcalloc::allocator* from_;
  c10::Device device_;
  stream on_;
};

}  // namespace arcalloc
