// SPDX-License-Identifier: Apache-2.0
// A program of NVIDIA's compiler against the library: its kernel's memory comes from arcalloc. Built where nvcc is, and
// run where a card is; without one it says why, with exit status 77.
#include <arcalloc/allocator.hpp>
#include <arcalloc/cuda_backend.hpp>
#include <cstdio>

__global__ void fill(unsigned int* numbers, unsigned int count) {
  const unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < count) numbers[i] = i * 3;
}

int main() {
  int cards = 0;
  if (const cudaError_t asked = cudaGetDeviceCount(&cards); asked != cudaSuccess || cards == 0) {
    std::printf("skipped: CUDA's runtime finds no card: %s\n", cudaGetErrorString(asked));
    return 77;
  }
  arcalloc::cuda_backend device;
  if (device.open({}) != arcalloc::status::ok) {
    char why[400];
    device.error_text(why, sizeof why);
    std::printf("skipped: %s\n", why);
    return 77;
  }
  arcalloc::allocator* memory = nullptr;
  if (arcalloc::allocator::create(device, {}, memory) != arcalloc::status::ok) return 1;
  constexpr unsigned int count = 1 << 20;
  static unsigned int found[count];
  for (int turn = 0; turn < 3; ++turn) {
    arcalloc::block numbers;
    if (memory->allocate(sizeof found, arcalloc::default_stream, numbers) != arcalloc::status::ok) return 1;
    fill<<<count / 256, 256>>>(static_cast<unsigned int*>(numbers.data()), count);
    if (cudaMemcpy(found, numbers.data(), sizeof found, cudaMemcpyDeviceToHost) != cudaSuccess) return 1;
    for (unsigned int i = 0; i < count; ++i) {
      if (found[i] != i * 3) return 1;
    }
    if (memory->deallocate(numbers) != arcalloc::status::ok) return 1;
  }
  arcalloc::counters seen;
  memory->read_counters(seen);
  arcalloc::allocator::destroy(memory);
  std::printf("%llu driver allocations for %llu requests on %s\n", static_cast<unsigned long long>(seen.driver_allocs),
              static_cast<unsigned long long>(seen.requests), device.device_name());
  return seen.driver_allocs == 1 ? 0 : 1;
}
