// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

namespace arcalloc::cli {

/// Where the leg's process finds its end of the channel and the token board after it is started.
inline constexpr int leg_channel_file = 3;
inline constexpr int leg_board_file = 4;

/// Lines of text over one socket, both ways. Each side has its own; one thread. A peer that is gone
/// shows as a failed send or as the end of the lines, never as a signal.
class line_channel {
 public:
  explicit line_channel(int socket) noexcept : socket_(socket) {}
  ~line_channel();
  line_channel(const line_channel&) = delete;
  line_channel& operator=(const line_channel&) = delete;

  /// Waits until all of it is sent; false when the peer is gone.
  bool send(std::string line);

  /// Waits for the next line; nothing when the peer is gone.
  std::optional<std::string> receive();

  /// A line that has arrived completely; does not wait.
  std::optional<std::string> take();

  /// Reads what has arrived, waiting when nothing has. False at the end of the lines.
  bool read_some();

  [[nodiscard]] int socket() const noexcept { return socket_; }

 private:
  int socket_;
  std::string arrived_;
};

/// The number of tokens done, in a page shared by a leg's process and its parent: telling costs the
/// leg one store and no system call, and the parent can read it after the leg has crashed.
class token_board {
 public:
  /// Maps `file`. Throws command_failure when that fails; the file stays the caller's.
  explicit token_board(int file);
  ~token_board();
  token_board(const token_board&) = delete;
  token_board& operator=(const token_board&) = delete;

  void write(std::uint64_t tokens) noexcept { tokens_->store(tokens, std::memory_order_relaxed); }
  [[nodiscard]] std::uint64_t read() const noexcept { return tokens_->load(std::memory_order_relaxed); }

  /// A file for a board, all zero, closed on exec. Throws command_failure when there is none to be had.
  static int make_file();

 private:
  std::atomic<std::uint64_t>* tokens_;
};

}  // namespace arcalloc::cli
