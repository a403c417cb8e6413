// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <arcalloc/cuda_backend.hpp>

namespace arcalloc::decode {

/// Thrown where a device cannot do what the workload needs; `message` says what.
struct device_error {
  std::string message;
};

/// A stream of a CUDA device and what is enqueued there: memory set and copied, nothing computed.
///
/// Used by traffic_executor. The driver's functions are found at run time in the library that the device was opened
/// from. While it lives the calling thread is in the device's context; every call is that thread's.
/// Cost: a driver call each. A call that fails throws device_error, and may leave a capture invalid.
class cuda_stream {
 public:
  /// `driver_path` as in cuda_options. The device must outlive it.
  explicit cuda_stream(const cuda_backend& device, const char* driver_path = nullptr);
  ~cuda_stream();
  cuda_stream(const cuda_stream&) = delete;
  cuda_stream& operator=(const cuda_stream&) = delete;

  /// As the allocator names it.
  [[nodiscard]] stream on() const noexcept;

  void set(void* to, unsigned char value, std::size_t bytes);
  void copy(void* to, const void* from, std::size_t bytes);
  void copy_in(void* to, const void* from, std::size_t bytes);
  /// Returns when all work here has finished.
  void copy_out(void* to, const void* from, std::size_t bytes);

  /// Later work here is ordered after all that is enqueued there so far; joins its capture.
  void wait_for(cuda_stream& earlier);

  /// What is enqueued until end_capture becomes a graph, which end_capture gives as a function that launches it here.
  /// It must not outlive this. Aborting, or an invalid capture, leaves nothing.
  void begin_capture();
  [[nodiscard]] std::function<void()> end_capture();
  void abort_capture() noexcept;

 private:
  struct functions;
  void check(int outcome, const char* call) const;

  std::unique_ptr<functions> driver_;
  void* stream_ = nullptr;
};

}  // namespace arcalloc::decode
