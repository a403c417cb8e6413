// SPDX-License-Identifier: Apache-2.0
#include "device_lock.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "exit_status.hpp"
#include "memory_probe.hpp"
#include "number_text.hpp"

namespace arcalloc::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw command_failure{exit_status::device_refused, why}; }

std::string holder(int file) {
  char text[32] = {};
  const ssize_t length = ::pread(file, text, sizeof text - 1, 0);
  if (length <= 0) return "an unknown process";
  return "process " + std::string(text, std::strcspn(text, "\n"));
}

}  // namespace

std::string device_lock::path(const std::string& device) {
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  const std::string folder = runtime != nullptr && *runtime != '\0' ? runtime : "/tmp";
  std::string plain = device;
  std::erase(plain, ':');
  return folder + "/arcalloc-" + plain + "-" + std::to_string(::getuid()) + ".lock";
}

device_lock::device_lock(const std::string& device) {
  const std::string name = path(device);
  const std::string head = "--device " + device + ": ";
  // O_NOFOLLOW: in a folder that others write to, a link must not lead us to another file.
  file_ = ::open(name.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file_ < 0) refuse(head + "cannot open the lock file " + name + ": " + std::strerror(errno));
  if (::flock(file_, LOCK_EX | LOCK_NB) != 0) {
    const int error = errno;
    const std::string who = holder(file_);
    ::close(file_);
    if (error == EWOULDBLOCK) refuse(head + "not empty: " + who + " is decoding on it and holds " + name);
    refuse(head + "cannot lock " + name + ": " + std::strerror(error));
  }
  const std::string line = std::to_string(::getpid()) + "\n";
  // The number only serves the message above; the lock itself is held already.
  if (::ftruncate(file_, 0) != 0 || ::pwrite(file_, line.data(), line.size(), 0) < 0) {
    const int error = errno;
    ::close(file_);
    refuse(head + "cannot write to the lock file " + name + ": " + std::strerror(error));
  }
}

device_lock::~device_lock() { ::close(file_); }

void require_room(unsigned long long device_bytes) {
  const auto available = available_bytes();
  if (!available) refuse("--device host: cannot tell how much memory is available: /proc/meminfo has no MemAvailable");
  if (*available < device_bytes) {
    refuse("--device host: not empty: " + mib_text(*available) + " MiB of memory available, but the device is " +
           mib_text(device_bytes) + " MiB");
  }
}

void require_empty(const std::string& device, unsigned long long used_bytes) {
  if (used_bytes <= card_in_use_bytes_most) return;
  refuse("--device " + device + ": not empty: " + mib_text(used_bytes) + " MiB are in use");
}

}  // namespace arcalloc::cli
