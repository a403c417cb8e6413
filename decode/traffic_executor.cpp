// SPDX-License-Identifier: Apache-2.0
#include "decode/traffic_executor.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <utility>

namespace arcalloc::decode {

namespace {

constexpr std::size_t word = sizeof(float);
// What is written where no input reaches.
constexpr unsigned char beyond_input = 0x3C;

/// The second word, which carries the position; in a tensor of one element, that element.
template <typename Element>
Element* carrier(const tensor_view<Element>& of) {
  return of.data() + (of.elements() > 1 ? 1 : 0);
}

}  // namespace

void traffic_executor::refuse_while_recording(const char* what) const {
  if (recording_) throw std::logic_error(std::string(what).append(" in a recording: the host's part in a step"));
}

void traffic_executor::start() {
  refuse_while_recording("start");
  on_.begin_capture();
  recording_ = true;
  recorded_ = 0;
}

recorded_operations traffic_executor::stop() {
  recording_ = false;
  return recorded_operations::as_one(recorded_, [launch = on_.end_capture()](executor&) { launch(); });
}

void traffic_executor::drop() noexcept {
  if (std::exchange(recording_, false)) on_.abort_capture();
}

void traffic_executor::pass_on(tensor_input x, tensor_output out) {
  ++recorded_;
  const std::size_t carried = std::min(x.bytes(), out.bytes());
  on_.copy(out.data(), x.data(), carried);
  on_.set(reinterpret_cast<unsigned char*>(out.data()) + carried, beyond_input, out.bytes() - carried);
}

void traffic_executor::fill(tensor_output out, std::size_t count, const value_source&) {
  refuse_while_recording("fill");
  on_.set(out.data(), 0, count * word);
}

void traffic_executor::write_index(tensor_output place, std::int32_t value) {
  refuse_while_recording("write_index");
  on_.copy_in(place.data(), &value, sizeof value);
}

std::int32_t traffic_executor::read_index(tensor_input place) {
  refuse_while_recording("read_index");
  std::int32_t value = 0;
  on_.copy_out(&value, place.data(), sizeof value);
  return value;
}

void traffic_executor::gather_row(tensor_input table, tensor_input index, tensor_output out) {
  // Which row is known on the device alone: the first, then the index itself in the first word.
  pass_on({table.data(), {.columns = table.extents().columns}}, out);
  on_.copy(out.data(), index.data(), word);
}

void traffic_executor::mean_of_squares(tensor_input x, tensor_output out) { pass_on(x, out); }

void traffic_executor::normalise(tensor_input x, tensor_input, tensor_input, tensor_output out) { pass_on(x, out); }

void traffic_executor::matrix_vector(tensor_input, tensor_input x, tensor_output out) { pass_on(x, out); }

void traffic_executor::rotate_pairs(tensor_input x, tensor_input, tensor_input, tensor_output out) { pass_on(x, out); }

void traffic_executor::concatenate(tensor_input before, tensor_input row, tensor_output out) {
  ++recorded_;
  on_.copy(out.data(), before.data(), before.bytes());
  on_.copy(reinterpret_cast<unsigned char*>(out.data()) + before.bytes(), row.data(), row.bytes());
}

void traffic_executor::write_row(tensor_output table, tensor_input, tensor_input row) {
  ++recorded_;
  on_.copy(table.data(), row.data(), row.bytes());
}

void traffic_executor::expand_heads(tensor_input cache, tensor_output out) { pass_on(cache, out); }

void traffic_executor::scores(tensor_input, tensor_input query, tensor_output out) { pass_on(query, out); }

void traffic_executor::scale(tensor_input x, float, tensor_output out) { pass_on(x, out); }

void traffic_executor::softmax_rows(tensor_input x, tensor_input last, tensor_output out) {
  pass_on(x, out);
  on_.copy(carrier(out), last.data(), word);
}

void traffic_executor::weighted_sum(tensor_input weights, tensor_input, tensor_output out) { pass_on(weights, out); }

void traffic_executor::swap_outer(tensor_input x, tensor_output out) { pass_on(x, out); }

void traffic_executor::add(tensor_input left, tensor_input right, tensor_output out) {
  pass_on(left, out);
  on_.copy(carrier(out), carrier(right), word);
}

void traffic_executor::multiply(tensor_input left, tensor_input, tensor_output out) { pass_on(left, out); }

void traffic_executor::silu(tensor_input x, tensor_output out) { pass_on(x, out); }

void traffic_executor::index_of_greatest(tensor_input x, tensor_output place) {
  ++recorded_;
  on_.copy(place.data(), carrier(x), word);
}

}  // namespace arcalloc::decode
