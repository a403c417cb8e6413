// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>

#include "trace/formats/byte_sink.hpp"
#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// Bytes put aside in a file without a name, to be read when all of them are there. They are gone with the object, and
/// with the process. Concurrency: one thread.
class spool final : public byte_sink {
 public:
  spool();
  void write(std::string_view bytes) override;
  /// What has been written, from its beginning. Nothing is written any more.
  [[nodiscard]] std::unique_ptr<byte_source> read();

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  std::unique_ptr<std::FILE, closer> file_;
};

}  // namespace arcalloc::trace
