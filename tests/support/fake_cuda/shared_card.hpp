// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

namespace arcalloc::fake_cuda {

/// The first device as several processes have it: what each of them has taken, in a file that all of them map.
///
/// For programs whose parent looks at the device's memory while a child uses it. The file is named by
/// FAKE_CUDA_SHARED; without it every process has a device of its own. A process that has ended has nothing.
/// Concurrency: any process, any thread; one atomic each. Not exact while two of them take memory at once.
class shared_card {
 public:
  /// Null where the file cannot be mapped.
  static shared_card* open(const char* path);

  void set_taken_bytes(std::uint64_t bytes);
  [[nodiscard]] std::uint64_t others_bytes() const;

 private:
  struct place {
    std::atomic<std::int64_t> process;
    std::atomic<std::uint64_t> bytes;
  };
  static constexpr int places_max = 64;

  [[nodiscard]] place* own();

  place places_[places_max];
};

}  // namespace arcalloc::fake_cuda
