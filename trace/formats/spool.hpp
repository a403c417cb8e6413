// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdio>
#include <memory>
#include <string>

#include "trace/formats/byte_sink.hpp"
#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// Bytes put aside, to be read when all of them are there: in memory, and where they are more than a MiB in a file
/// without a name. They are gone with the object, and with the process. Concurrency: one thread.
class spool final : public byte_sink {
 public:
  void write(std::string_view bytes) override;
  /// What has been written, from its beginning, while this object is there. Nothing is written any more.
  [[nodiscard]] std::unique_ptr<byte_source> read();

 private:
  struct closer {
    void operator()(std::FILE* file) const noexcept { std::fclose(file); }
  };
  void write_out(std::string_view bytes);

  std::string kept_;
  std::unique_ptr<std::FILE, closer> file_;
};

}  // namespace arcalloc::trace
