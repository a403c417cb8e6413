// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "trace/formats/byte_sink.hpp"
#include "trace/formats/event.hpp"

namespace arcalloc::trace {

/// Writes CSV, `t_us,op,id,size,stream`: allocates and frees of one device, times cut to whole microseconds. What else
/// a trace has is left out and counted; a second device is refused, since a row does not say which. Concurrency: one
/// thread. Cost: a buffer of 64 KiB.
class csv_writer final : public trace_sink {
 public:
  explicit csv_writer(byte_sink& out);
  void take(const event& what) override;
  void finish();
  [[nodiscard]] std::uint64_t events() const noexcept { return events_; }
  [[nodiscard]] std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  byte_sink& out_;
  std::string rows_;
  std::optional<std::uint32_t> device_;
  std::uint64_t events_ = 0;
  std::uint64_t left_out_ = 0;
};

}  // namespace arcalloc::trace
