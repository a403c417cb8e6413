// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/host_backend.hpp>

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace arcalloc {

host_backend::host_backend(std::uint64_t size_bytes) noexcept
    : page_bytes_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))),
      size_bytes_(size_bytes / page_bytes_ * page_bytes_) {}

status host_backend::allocate(std::size_t bytes, stream, void*& address) noexcept {
  address = nullptr;
  if (bytes == 0 || bytes % page_bytes_ != 0) return status::invalid_argument;
  // Taken before mmap and put back if it refuses, so that the size holds at every instant.
  std::uint64_t lent = lent_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > size_bytes_ - lent) return status::device_out_of_memory;
  } while (!lent_bytes_.compare_exchange_weak(lent, lent + bytes, std::memory_order_relaxed));
  void* const mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    const int reason = errno;
    lent_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    return reason == ENOMEM ? status::device_out_of_memory : status::backend_failed;
  }
  address = mapped;
  return status::ok;
}

status host_backend::free(void* address, std::size_t bytes) noexcept {
  if (address == nullptr || bytes == 0 || bytes % page_bytes_ != 0) return status::invalid_argument;
  if (::munmap(address, bytes) != 0) return status::backend_failed;
  lent_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
  return status::ok;
}

status host_backend::query_memory(memory_info& out) const noexcept {
  out.free_bytes = size_bytes_ - lent_bytes_.load(std::memory_order_relaxed);
  out.total_bytes = size_bytes_;
  return status::ok;
}

status host_backend::record_event(stream, event& out) noexcept {
  out = event{1};
  return status::ok;
}

status host_backend::query_event(event, bool& finished) noexcept {
  finished = true;
  return status::ok;
}

status host_backend::wait_event(event) noexcept { return status::ok; }

void host_backend::drop_event(event) noexcept {}

}  // namespace arcalloc
