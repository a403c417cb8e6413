// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "trace/formats/byte_sink.hpp"
#include "trace/formats/event.hpp"
#include "trace/formats/own_format.hpp"

namespace arcalloc::trace {

/// Writes arcalloc's own format. A chunk is written when it is full: what was taken since is lost with a process that
/// dies, and nothing else. Concurrency: one thread. Cost: one chunk of memory; 5 to 25 bytes an event.
class own_writer final : public trace_sink {
 public:
  explicit own_writer(byte_sink& out);
  void take(const event& what) override;
  /// Writes what is left and closes the file: without it a reader says that the file was cut.
  void finish();
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }

 private:
  void put_fields(const event& what);
  void put_number(std::uint64_t value);
  void put_chunk(char type);
  [[nodiscard]] unsigned marks_for(const event& what) const;

  byte_sink& out_;
  std::string payload_;
  own::chunk_state last_;
  std::uint64_t events_ = 0;
};

}  // namespace arcalloc::trace
