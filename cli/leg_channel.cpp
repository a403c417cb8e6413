// SPDX-License-Identifier: Apache-2.0
#include "leg_channel.hpp"

#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "the board is shared between processes");

constexpr std::size_t board_bytes = sizeof(std::atomic<std::uint64_t>);

[[noreturn]] void fail(const char* what) {
  throw command_failure{exit_status::device_refused,
                        std::string("cannot start a leg: ") + what + ": " + std::strerror(errno)};
}

}  // namespace

line_channel::~line_channel() { ::close(socket_); }

bool line_channel::send(std::string line) {
  line += '\n';
  for (std::size_t sent = 0; sent < line.size();) {
    const ssize_t now = ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EINTR) continue;
    if (now <= 0) return false;
    sent += static_cast<std::size_t>(now);
  }
  return true;
}

std::optional<std::string> line_channel::receive() {
  for (;;) {
    if (auto line = take()) return line;
    if (!read_some()) return std::nullopt;
  }
}

std::optional<std::string> line_channel::take() {
  const std::size_t end = arrived_.find('\n');
  if (end == std::string::npos) return std::nullopt;
  std::string line = arrived_.substr(0, end);
  arrived_.erase(0, end + 1);
  return line;
}

bool line_channel::read_some() {
  char bytes[65536];
  ssize_t now = 0;
  do {
    now = ::recv(socket_, bytes, sizeof bytes, 0);
  } while (now < 0 && errno == EINTR);
  if (now <= 0) return false;
  arrived_.append(bytes, static_cast<std::size_t>(now));
  return true;
}

token_board::token_board(int file) {
  void* page = ::mmap(nullptr, board_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (page == MAP_FAILED) fail("mmap");
  tokens_ = static_cast<std::atomic<std::uint64_t>*>(page);
}

token_board::~token_board() { ::munmap(tokens_, board_bytes); }

int token_board::make_file() {
  const int file = ::memfd_create("arcalloc-tokens", MFD_CLOEXEC);
  if (file < 0) fail("memfd_create");
  if (::ftruncate(file, board_bytes) != 0) {
    const int error = errno;
    ::close(file);
    errno = error;
    fail("ftruncate");
  }
  return file;
}

}  // namespace arcalloc::cli
