// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda/memory_resource>
#include <cuda/stream_ref>

#include <cstddef>
#include <cstdint>

#include <arcalloc/adapters/refused.hpp>
#include <arcalloc/allocator.hpp>

namespace arcalloc {

/// The memory of an allocator as a resource of libcu++'s cuda::mr: the concepts resource and async_resource of CCCL 2
/// and 3.0 (behind LIBCUDACXX_ENABLE_EXPERIMENTAL_MEMORY_RESOURCE there), with the names of later versions beside them.
///
/// Called by containers and algorithms of CUDA's libraries, on any thread; calls the allocator, which must outlive it.
/// What takes a stream is ordered on that stream; what takes none on the default stream, whose work comes after that
/// of every other stream which was not made non-blocking.
/// Cost: that of allocate and of a deallocate by address. Alignments up to block_alignment, else `refused` with
/// invalid_argument. Copies share the allocator and are equal.
class cuda_resource {
 public:
  explicit cuda_resource(allocator& from) noexcept : from_(&from) {}

  [[nodiscard]] void* allocate(std::size_t bytes, std::size_t alignment = block_alignment) {
    return take(bytes, alignment, default_stream);
  }
  void deallocate(void* address, std::size_t /*bytes*/, std::size_t /*alignment*/ = block_alignment) {
    give_back(address, default_stream);
  }
  [[nodiscard]] void* allocate_async(std::size_t bytes, std::size_t alignment, cuda::stream_ref on) {
    return take(bytes, alignment, identity_of(on));
  }
  [[nodiscard]] void* allocate_async(std::size_t bytes, cuda::stream_ref on) {
    return take(bytes, block_alignment, identity_of(on));
  }
  void deallocate_async(void* address, std::size_t /*bytes*/, std::size_t /*alignment*/, cuda::stream_ref on) {
    give_back(address, identity_of(on));
  }
  void deallocate_async(void* address, std::size_t /*bytes*/, cuda::stream_ref on) {
    give_back(address, identity_of(on));
  }

  // The same by their later names.
  [[nodiscard]] void* allocate_sync(std::size_t bytes, std::size_t alignment = block_alignment) {
    return take(bytes, alignment, default_stream);
  }
  void deallocate_sync(void* address, std::size_t /*bytes*/, std::size_t /*alignment*/ = block_alignment) {
    give_back(address, default_stream);
  }
  [[nodiscard]] void* allocate(cuda::stream_ref on, std::size_t bytes, std::size_t alignment = block_alignment) {
    return take(bytes, alignment, identity_of(on));
  }
  void deallocate(cuda::stream_ref on, void* address, std::size_t /*bytes*/,
                  std::size_t /*alignment*/ = block_alignment) {
    give_back(address, identity_of(on));
  }

  [[nodiscard]] allocator& source() const noexcept { return *from_; }
  [[nodiscard]] friend bool operator==(const cuda_resource&, const cuda_resource&) noexcept = default;
  friend void get_property(const cuda_resource&, cuda::mr::device_accessible) noexcept {}

 private:
  static stream identity_of(cuda::stream_ref on) noexcept { return stream{reinterpret_cast<std::uint64_t>(on.get())}; }

  [[nodiscard]] void* take(std::size_t bytes, std::size_t alignment, stream on) {
    if (alignment > block_alignment) throw refused(status::invalid_argument);
    block piece;
    const status outcome = from_->allocate(bytes, on, piece);
    if (outcome != status::ok) throw refused(outcome);
    return piece.data();
  }

  /// A free that is refused throws: these functions may, and the block is as it was.
  void give_back(void* address, stream on) {
    const status outcome = from_->deallocate(address, on);
    if (outcome != status::ok) throw refused(outcome);
  }

  allocator* from_;
};

}  // namespace arcalloc
