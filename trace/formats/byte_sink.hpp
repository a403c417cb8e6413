// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace arcalloc::trace {

/// Where a writer's bytes go. Called with pieces of some kilobytes, in order, on one thread. What cannot be written is
/// refused by throwing trace_error.
class byte_sink {
 public:
  byte_sink() = default;
  byte_sink(const byte_sink&) = delete;
  byte_sink& operator=(const byte_sink&) = delete;
  virtual ~byte_sink() = default;
  virtual void write(std::string_view bytes) = 0;
};

/// Bytes kept in a string.
class string_sink final : public byte_sink {
 public:
  void write(std::string_view bytes) override { bytes_.append(bytes); }
  [[nodiscard]] const std::string& bytes() const noexcept { return bytes_; }

 private:
  std::string bytes_;
};

}  // namespace arcalloc::trace
