// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "trace/formats/byte_sink.hpp"

namespace arcalloc::cli {

/// A file that is written whole or not at all: under a temporary name in the same folder, renamed by commit, and gone
/// with the object otherwise. A link keeps leading where it did. What is there and is no regular file (a pipe, a
/// terminal) is written to directly. Throws command_failure (bad_usage) that names `what` and the path. Concurrency:
/// one thread.
class aside_file final : public trace::byte_sink {
 public:
  /// `what` is the flag or the argument that named the path.
  aside_file(std::string what, std::string path);
  ~aside_file() override;

  void write(std::string_view bytes) override;
  /// Puts the file at its place, as readable as any other new one.
  void commit();

 private:
  void give_name();
  [[noreturn]] void fail(int error) const;

  std::string what_;
  std::string path_;
  std::string target_;     ///< where the path leads
  std::string temporary_;  ///< its name until it is whole; empty where it has none, or is written directly
  bool is_nameless_ = false;
  int file_ = -1;
};

}  // namespace arcalloc::cli
