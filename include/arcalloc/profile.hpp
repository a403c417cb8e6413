// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include <arcalloc/backend.hpp>
#include <arcalloc/status.hpp>

namespace arcalloc {

/// On this stream, this many blocks of this size out at once. The size is a request's or its class's, in bytes.
struct profile_entry {
  stream on = default_stream;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

/// What a warm-up asked for: per stream and size, the most blocks that were out at once.
///
/// Made by allocator::end_profile, by add, or by read_profile; given to allocator::prewarm and verify.
/// Concurrency: one thread at a time. Host memory comes from malloc.
class profile {
 public:
  profile() noexcept = default;
  profile(profile&& from) noexcept;
  profile& operator=(profile&& from) noexcept;
  ~profile();

  /// Adds an entry, or raises the count of the one with the same stream and bytes. False when the host has no
  /// memory: nothing has changed.
  [[nodiscard]] bool add(const profile_entry& entry) noexcept;

  /// In the order in which they were added.
  [[nodiscard]] std::span<const profile_entry> entries() const noexcept { return {entries_, count_}; }
  [[nodiscard]] bool empty() const noexcept { return count_ == 0; }
  void clear() noexcept { count_ = 0; }

  /// A stream's number may be another one in the next run: what is noted for `from` is meant for `to`.
  void rename_stream(stream from, stream to) noexcept;

 private:
  profile_entry* entries_ = nullptr;
  std::size_t count_ = 0;
  std::size_t room_ = 0;
};

/// Why a profile was refused or could not be written: file, line where there is one, and the reason. No newline.
struct profile_error {
  char text[512];
};

/// Reads a profile file: JSON, `{"schema": "arcalloc.profile/1", "entries": [{"stream": 0, "bytes": 393216,
/// "blocks": 2}, ...]}`, numbers in decimal digits, keys in any order, nothing else in it. On invalid_argument
/// `error` names the file and the line; `out` is as it was. backend_failed when the host has no memory.
[[nodiscard]] status read_profile(const char* path, profile& out, profile_error& error) noexcept;

/// Writes one, whole or not at all: a new file takes the place of an old one when it is complete. On
/// backend_failed `error` names the file.
[[nodiscard]] status write_profile(const char* path, const profile& from, profile_error& error) noexcept;

}  // namespace arcalloc
