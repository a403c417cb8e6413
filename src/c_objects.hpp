// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/arcalloc.h>
#include <algorithm>
#include <arcalloc/allocator.hpp>
#include <arcalloc/cuda_backend.hpp>
#include <arcalloc/host_backend.hpp>
#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

#include "c_backend.hpp"

// What the opaque pointers of the C ABI point to. Their names are the ABI's, so they are in no
// namespace. Made and ended by the C ABI alone, in malloc's memory, as in the core. Constant after
// their creation, but for the count of a device's allocators, which is atomic.

/// Which device an arcalloc_device becomes: a CUDA device that is not open yet.
struct arcalloc_cuda_device {};

/// A device made of host memory, of CUDA's driver or of the caller's functions, and how many allocators stand on it.
struct arcalloc_device {
  explicit arcalloc_device(std::uint64_t size_bytes) noexcept
      : below(::new (static_cast<void*>(room)) arcalloc::host_backend(size_bytes)) {}
  explicit arcalloc_device(const arcalloc_backend& functions) noexcept
      : below(::new (static_cast<void*>(room)) arcalloc::detail::caller_backend(functions)) {}
  explicit arcalloc_device(arcalloc_cuda_device) noexcept
      : cuda(::new (static_cast<void*>(room)) arcalloc::cuda_backend), below(cuda) {}
  ~arcalloc_device() { below->~backend(); }
  arcalloc_device(const arcalloc_device&) = delete;
  arcalloc_device& operator=(const arcalloc_device&) = delete;

  static constexpr std::size_t room_bytes = std::max(
      {sizeof(arcalloc::host_backend), sizeof(arcalloc::cuda_backend), sizeof(arcalloc::detail::caller_backend)});

  arcalloc::cuda_backend* cuda = nullptr;  ///< below, where it is that
  arcalloc::backend* below;
  std::atomic<std::uint64_t> allocators{0};
  alignas(std::max_align_t) unsigned char room[room_bytes];
};

/// An allocator, and the caller's sink that its reports are passed on to.
struct arcalloc_allocator {
  arcalloc::detail::door way{};  ///< core's
  arcalloc::allocator* core = nullptr;
  arcalloc_device* device = nullptr;
  arcalloc_text_sink sink = nullptr;
  void* sink_context = nullptr;
};

/// A profile is the caller's alone.
struct arcalloc_profile {
  arcalloc::profile core{};
};

namespace arcalloc::detail {

/// Makes an object of `Object` in malloc's memory; null where there is none.
template <class Object, class... Arguments>
Object* make(const Arguments&... arguments) noexcept {
  void* const room = std::malloc(sizeof(Object));
  return room != nullptr ? ::new (room) Object(arguments...) : nullptr;
}

template <class Object>
void unmake(Object* object) noexcept {
  object->~Object();
  std::free(object);
}

constexpr arcalloc_status as_c(status outcome) { return static_cast<arcalloc_status>(outcome); }

}  // namespace arcalloc::detail
