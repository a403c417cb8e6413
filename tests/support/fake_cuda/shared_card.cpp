// SPDX-License-Identifier: Apache-2.0
#include "shared_card.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

namespace arcalloc::fake_cuda {

namespace {

/// A child that nobody has waited for yet counts as gone too late, not too early.
bool is_alive(std::int64_t process) { return process != 0 && ::kill(static_cast<pid_t>(process), 0) == 0; }

}  // namespace

shared_card* shared_card::open(const char* path) {
  const int file = ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  if (file < 0) return nullptr;
  void* mapped = MAP_FAILED;
  // A file that grows here is zero, which is a card that nobody uses.
  if (::ftruncate(file, sizeof(shared_card)) == 0) {
    mapped = ::mmap(nullptr, sizeof(shared_card), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<shared_card*>(mapped);
}

shared_card::place* shared_card::own() {
  const std::int64_t self = ::getpid();
  for (place& at : places_) {
    if (at.process.load() == self) return &at;
  }
  for (place& at : places_) {
    std::int64_t former = at.process.load();
    if (is_alive(former) || !at.process.compare_exchange_strong(former, self)) continue;
    at.bytes.store(0);
    return &at;
  }
  return nullptr;
}

void shared_card::set_taken_bytes(std::uint64_t bytes) {
  if (place* const at = own(); at != nullptr) at->bytes.store(bytes);
}

std::uint64_t shared_card::others_bytes() const {
  std::uint64_t sum = 0;
  for (const place& at : places_) {
    const std::int64_t process = at.process.load();
    if (process != ::getpid() && is_alive(process)) sum += at.bytes.load();
  }
  return sum;
}

}  // namespace arcalloc::fake_cuda
