// SPDX-License-Identifier: Apache-2.0
#include "trace/formats/csv_writer.hpp"

#include <charconv>

#include "trace/formats/csv_columns.hpp"
#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::size_t rows_bytes = std::size_t{1} << 16;

void append_number(std::string& out, std::uint64_t value) {
  char digits[20];
  const auto written = std::to_chars(digits, digits + sizeof digits, value);
  out.append(digits, written.ptr);
}

}  // namespace

csv_writer::csv_writer(byte_sink& out) : out_(out), rows_(csv_columns) {
  rows_ += '\n';
  rows_.reserve(rows_bytes + 128);
}

void csv_writer::take(const event& what) {
  if (what.kind != event_kind::allocate && what.kind != event_kind::free) {
    ++left_out_;
    return;
  }
  if (device_.value_or(what.device) != what.device) {
    throw trace_error{"CSV holds one device, and the trace has " + std::to_string(*device_) + " and " +
                      std::to_string(what.device) + "; choose one with --device"};
  }
  device_ = what.device;
  if (what.time_ns != no_time) append_number(rows_, what.time_ns / ns_per_us);
  rows_ += what.kind == event_kind::allocate ? ",a," : ",f,";
  append_number(rows_, what.id);
  rows_ += ',';
  append_number(rows_, what.bytes);
  rows_ += ',';
  append_number(rows_, what.stream);
  rows_ += '\n';
  ++events_;
  if (rows_.size() < rows_bytes) return;
  out_.write(rows_);
  rows_.clear();
}

void csv_writer::finish() {
  out_.write(rows_);
  rows_.clear();
}

}  // namespace arcalloc::trace
