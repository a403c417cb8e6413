// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include <arcalloc/backend.hpp>

namespace arcalloc {

/// Which context the memory belongs to.
enum class cuda_context : std::uint8_t {
  primary,  ///< the device's primary context, which the CUDA runtime, and so PyTorch, uses: retained while it is open
  current,  ///< the one that is current on the thread that calls open; its owner keeps it
};

/// Which of the driver's ways to lend is used.
enum class cuda_source : std::uint8_t {
  driver,          ///< cuMemAlloc and cuMemFree
  stream_ordered,  ///< a pool of our own, cuMemAllocFromPoolAsync; nothing is kept there over a drain. CUDA 11.2
};

struct cuda_options {
  int ordinal = 0;  ///< which device, as the driver numbers them; not read under cuda_context::current
  cuda_context context = cuda_context::primary;
  cuda_source source = cuda_source::driver;
  /// A power of two. The driver takes 2 MiB pages from the device and cuts what is smaller out of them, so segments
  /// in multiples of 512 are no waste, and 2 MiB makes every count true of the device; docs/cuda.md.
  std::size_t granularity = 512;
  /// The driver's library; null: libcuda.so.1 as the loader finds it.
  const char* driver_path = nullptr;
};

/// What a stream is doing, as the driver says.
struct cuda_capture {
  enum class state : std::uint8_t { none, ongoing, invalidated };
  state now = state::none;
  std::uint64_t id = 0;  ///< of the capture; 0 where there is none
};

/// A CUDA device by the driver API, whose library is opened at run time: nothing of CUDA is needed to build.
///
/// Called by the allocator as any backend. Each call makes the context current for its length, whatever thread it
/// comes from, and puts the thread into relaxed capture mode, so that no capture under way is disturbed.
/// Concurrency: any thread; open and the destructor are alone.
/// A stream is the driver's handle as a number: stream_of. The calling thread's own default stream is
/// per_thread_stream; on another thread the legacy default stream, which the driver orders after it, stands for it in
/// events. After an error that the driver does not recover from (an illegal address, and its like) every call is
/// backend_failed without asking, and error_text keeps the first. Once the driver has been unloaded its memory is gone
/// already: frees and waits are ok, the rest is shutting_down. In a forked child everything is backend_unavailable.
/// Cost: a driver call, two more to make the context current where it is not, and two for the capture mode. Events are
/// made on demand and used again. It never touches the memory that it lends.
class cuda_backend final : public backend {
 public:
  cuda_backend() noexcept = default;
  ~cuda_backend() override;
  cuda_backend(const cuda_backend&) = delete;
  cuda_backend& operator=(const cuda_backend&) = delete;

  /// Opens the driver and the device; once. backend_unavailable where there is no driver, it is too old, or it has no
  /// such device; error_text says which. Nothing else may be called before it was ok, but granularity, error_text and
  /// trim.
  [[nodiscard]] status open(const cuda_options& how) noexcept;

  [[nodiscard]] const char* name() const noexcept override { return "cuda"; }
  /// 0 before open was ok, so that allocator::create refuses.
  [[nodiscard]] std::size_t granularity() const noexcept override;
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;
  /// backend_failed for a stream that is captured, announced or not: the event would become part of the graph.
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;
  void trim() noexcept override;

  /// For a host that does not announce its captures. One driver call; invalidates nothing.
  [[nodiscard]] status query_capture(stream on, cuda_capture& out) noexcept;

  /// The driver's handle (a CUstream) as the allocator's stream: the default streams, which have several handles each,
  /// become default_stream and per_thread_stream.
  [[nodiscard]] static stream stream_of(const void* handle) noexcept {
    const auto number = reinterpret_cast<std::uintptr_t>(handle);
    return number == 2 ? per_thread_stream : number == 1 ? default_stream : stream{number};
  }

  /// What failed last, in a sentence; "" where nothing has. Written as snprintf does.
  int error_text(char* text, std::size_t capacity) const noexcept;

  [[nodiscard]] int ordinal() const noexcept;
  [[nodiscard]] int driver_version() const noexcept;       ///< 1000 * major + 10 * minor of the newest CUDA it knows
  [[nodiscard]] const char* device_name() const noexcept;  ///< such as "NVIDIA H200"; as long as this is open
  /// The context (a CUcontext), for an engine that works in the same one.
  [[nodiscard]] void* context() const noexcept;

  /// Events recorded and not dropped yet.
  [[nodiscard]] std::uint64_t events_out() const noexcept;

 private:
  struct state;
  state* state_ = nullptr;
};

}  // namespace arcalloc
