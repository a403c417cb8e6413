// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "decode/input_error.hpp"

namespace arcalloc::decode {

/// A regular file, open for reading at any offset.
///
/// Every failure is an input_error that names the file, and the offset where there is one.
/// Concurrency: read_at from any thread. It buffers nothing: bytes go straight to their destination.
class input_file {
 public:
  explicit input_file(std::string path);
  input_file(const input_file&) = delete;
  input_file& operator=(const input_file&) = delete;
  ~input_file();

  [[nodiscard]] const std::string& path() const noexcept { return path_; }
  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Reads exactly `count` bytes from `offset`.
  void read_at(std::uint64_t offset, void* out, std::size_t count) const;

  /// The little-endian int32 at `offset`.
  [[nodiscard]] std::int32_t int32_at(std::uint64_t offset) const;

  /// Throws input_error: "PATH: WHAT at offset OFFSET".
  [[noreturn]] void refuse(const std::string& what, std::uint64_t offset) const;

 private:
  std::string path_;
  int descriptor_ = -1;
  std::uint64_t bytes_ = 0;
};

}  // namespace arcalloc::decode
