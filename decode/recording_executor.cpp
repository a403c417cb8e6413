// SPDX-License-Identifier: Apache-2.0
#include "decode/recording_executor.hpp"

#include <stdexcept>
#include <string>
#include <utility>

namespace arcalloc::decode {

template <typename Operation>
void recording_executor::take(const Operation& operation) {
  if (recording_) {
    taken_.add(operation);
  } else {
    operation(*compute_);
  }
}

void recording_executor::refuse_while_recording(const char* what) const {
  if (recording_) throw std::logic_error(std::string(what).append(" in a recording: the host's part in a step"));
}

void recording_executor::start() {
  refuse_while_recording("start");
  taken_ = {};
  recording_ = true;
}

recorded_operations recording_executor::stop() {
  recording_ = false;
  return std::exchange(taken_, {});
}

void recording_executor::drop() noexcept {
  recording_ = false;
  taken_ = {};
}

void recording_executor::fill(tensor_output out, std::size_t count, const value_source& values) {
  refuse_while_recording("fill");
  compute_->fill(out, count, values);
}

void recording_executor::write_index(tensor_output place, std::int32_t value) {
  refuse_while_recording("write_index");
  compute_->write_index(place, value);
}

std::int32_t recording_executor::read_index(tensor_input place) {
  refuse_while_recording("read_index");
  return compute_->read_index(place);
}

void recording_executor::gather_row(tensor_input table, tensor_input index, tensor_output out) {
  take([=](executor& on) { on.gather_row(table, index, out); });
}

void recording_executor::mean_of_squares(tensor_input x, tensor_output out) {
  take([=](executor& on) { on.mean_of_squares(x, out); });
}

void recording_executor::normalise(tensor_input x, tensor_input mean, tensor_input weight, tensor_output out) {
  take([=](executor& on) { on.normalise(x, mean, weight, out); });
}

void recording_executor::matrix_vector(tensor_input weight, tensor_input x, tensor_output out) {
  take([=](executor& on) { on.matrix_vector(weight, x, out); });
}

void recording_executor::rotate_pairs(tensor_input x, tensor_input cosines, tensor_input sines, tensor_output out) {
  take([=](executor& on) { on.rotate_pairs(x, cosines, sines, out); });
}

void recording_executor::concatenate(tensor_input before, tensor_input row, tensor_output out) {
  take([=](executor& on) { on.concatenate(before, row, out); });
}

void recording_executor::write_row(tensor_output table, tensor_input index, tensor_input row) {
  take([=](executor& on) { on.write_row(table, index, row); });
}

void recording_executor::expand_heads(tensor_input cache, tensor_output out) {
  take([=](executor& on) { on.expand_heads(cache, out); });
}

void recording_executor::scores(tensor_input keys, tensor_input query, tensor_output out) {
  take([=](executor& on) { on.scores(keys, query, out); });
}

void recording_executor::scale(tensor_input x, float factor, tensor_output out) {
  take([=](executor& on) { on.scale(x, factor, out); });
}

void recording_executor::softmax_rows(tensor_input x, tensor_input last, tensor_output out) {
  take([=](executor& on) { on.softmax_rows(x, last, out); });
}

void recording_executor::weighted_sum(tensor_input weights, tensor_input values, tensor_output out) {
  take([=](executor& on) { on.weighted_sum(weights, values, out); });
}

void recording_executor::swap_outer(tensor_input x, tensor_output out) {
  take([=](executor& on) { on.swap_outer(x, out); });
}

void recording_executor::add(tensor_input left, tensor_input right, tensor_output out) {
  take([=](executor& on) { on.add(left, right, out); });
}

void recording_executor::multiply(tensor_input left, tensor_input right, tensor_output out) {
  take([=](executor& on) { on.multiply(left, right, out); });
}

void recording_executor::silu(tensor_input x, tensor_output out) {
  take([=](executor& on) { on.silu(x, out); });
}

void recording_executor::index_of_greatest(tensor_input x, tensor_output place) {
  take([=](executor& on) { on.index_of_greatest(x, place); });
}

}  // namespace arcalloc::decode
