// SPDX-License-Identifier: Apache-2.0
#include "arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <new>

namespace arcalloc::detail {

namespace {
// Two cache lines: neighbours are prefetched in pairs, and structures of two threads must not share one.
constexpr std::size_t cut_alignment = 128;
constexpr std::size_t chunk_bytes = 256 * kibibyte;
}  // namespace

arena::~arena() {
  while (newest_ != nullptr) {
    chunk* const dead = newest_;
    newest_ = dead->older;
    ::munmap(dead, dead->bytes);
  }
}

void* arena::cut(std::size_t bytes) noexcept {
  const std::size_t size = round_up(std::max<std::size_t>(bytes, 1), cut_alignment);
  const std::lock_guard guard(mutex_);
  if (static_cast<std::size_t>(end_ - next_) < size) {
    const std::size_t mapped = std::max(chunk_bytes, round_up(size + cut_alignment, 4 * kibibyte));
    void* const fresh = ::mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (fresh == MAP_FAILED) return nullptr;
    newest_ = ::new (fresh) chunk{newest_, mapped};
    mapped_bytes_ += mapped;
    next_ = static_cast<std::byte*>(fresh) + cut_alignment;
    end_ = static_cast<std::byte*>(fresh) + mapped;
  }
  void* const piece = next_;
  next_ += size;
  return piece;
}

std::uint64_t arena::mapped_bytes() const noexcept {
  const std::lock_guard guard(mutex_);
  return mapped_bytes_;
}

}  // namespace arcalloc::detail
