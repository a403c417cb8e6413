// SPDX-License-Identifier: Apache-2.0
// In a file of its own, so that each is a call, as the runtime's are.
#include "faked_runtime.hpp"

namespace arcalloc::bench {

namespace {
fake_driver* below = nullptr;
}

void stand_on(fake_driver& driver) noexcept { below = &driver; }

}  // namespace arcalloc::bench

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int) { return cudaSuccess; }
cudaError_t cudaGetLastError() { return cudaSuccess; }

cudaError_t cudaMalloc(void** address, std::size_t bytes) {
  *address = arcalloc::bench::below->lend(bytes);
  return *address != nullptr ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t cudaFree(void* address) {
  arcalloc::bench::below->take_back(address);
  return cudaSuccess;
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned) {
  *event = nullptr;
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) {
  arcalloc::bench::below->note_event();
  return cudaSuccess;
}

cudaError_t cudaEventQuery(cudaEvent_t) { return cudaSuccess; }
