// SPDX-License-Identifier: Apache-2.0
// CUB's CachingDeviceAllocator as it comes, compiled for the host over a runtime of our own.
#include "faked_runtime.hpp"
// After the runtime that it needs.
#include <cub/util_allocator.cuh>

#include "../driven.hpp"
#include "peer_list.hpp"

namespace arcalloc::bench {

namespace {

class cub_calls {
 public:
  using piece = void*;

  cub_calls(fake_driver& driver, std::uint64_t bound_bytes) {
    stand_on(driver);
    if (bound_bytes != 0) (void)cached_.SetMaxCachedBytes(bound_bytes);
  }
  bool allocate(std::size_t bytes, std::uint64_t on, piece& out) {
    return cached_.DeviceAllocate(&out, bytes, reinterpret_cast<cudaStream_t>(on)) == cudaSuccess;
  }
  bool deallocate(piece& out) { return cached_.DeviceFree(out) == cudaSuccess; }

 private:
  cub::CachingDeviceAllocator cached_;
};

}  // namespace

std::unique_ptr<subject> make_cub(fake_driver& driver, std::uint64_t bound_bytes) {
  return std::make_unique<driven<cub_calls>>(driver, bound_bytes);
}

}  // namespace arcalloc::bench
