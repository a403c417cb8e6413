// SPDX-License-Identifier: Apache-2.0
#include "host_memory.hpp"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<bool> watching{false};
std::atomic<std::size_t> requests_seen{0};
std::atomic<std::size_t> bytes_seen{0};

void see(std::size_t bytes) noexcept {
  if (!watching.load(std::memory_order_relaxed)) return;
  requests_seen.fetch_add(1, std::memory_order_relaxed);
  bytes_seen.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace

// The linker's --wrap option sends every malloc to __wrap_malloc, and __real_malloc to malloc.
extern "C" {
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* old, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
int __real_posix_memalign(void** out, std::size_t alignment, std::size_t bytes);
void* __wrap_malloc(std::size_t bytes);
void* __wrap_calloc(std::size_t count, std::size_t bytes);
void* __wrap_realloc(void* old, std::size_t bytes);
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes);
int __wrap_posix_memalign(void** out, std::size_t alignment, std::size_t bytes);

void* __wrap_malloc(std::size_t bytes) {
  see(bytes);
  return __real_malloc(bytes);
}

void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  see(count * bytes);
  return __real_calloc(count, bytes);
}

void* __wrap_realloc(void* old, std::size_t bytes) {
  see(bytes);
  return __real_realloc(old, bytes);
}

void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  see(bytes);
  return __real_aligned_alloc(alignment, bytes);
}

int __wrap_posix_memalign(void** out, std::size_t alignment, std::size_t bytes) {
  see(bytes);
  return __real_posix_memalign(out, alignment, bytes);
}
}

// Every form of operator new, also those that by default call another: a sanitizer brings its own for
// each form that is left out, and finds that they do not match the delete from here.
void* operator new(std::size_t bytes) {
  void* const memory = std::malloc(bytes == 0 ? 1 : bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t bytes, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  void* const memory = std::aligned_alloc(step, (bytes + step - 1) / step * step);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

void* operator new(std::size_t bytes, const std::nothrow_t&) noexcept { return std::malloc(bytes == 0 ? 1 : bytes); }
void* operator new[](std::size_t bytes) { return operator new(bytes); }
void* operator new[](std::size_t bytes, std::align_val_t alignment) { return operator new(bytes, alignment); }
void* operator new[](std::size_t bytes, const std::nothrow_t&) noexcept { return operator new(bytes, std::nothrow); }

void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, const std::nothrow_t&) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
void operator delete[](void* memory, const std::nothrow_t&) noexcept { std::free(memory); }

namespace arcalloc::decode {

host_memory_watch::host_memory_watch() noexcept {
  requests_seen = 0;
  bytes_seen = 0;
  watching = true;
}

host_memory_watch::~host_memory_watch() { watching = false; }

std::size_t host_memory_watch::requests() const noexcept { return requests_seen; }

std::size_t host_memory_watch::bytes() const noexcept { return bytes_seen; }

}  // namespace arcalloc::decode
