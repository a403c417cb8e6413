// SPDX-License-Identifier: Apache-2.0
#include "decode/sim_executor.hpp"

#include "decode/values.hpp"

namespace arcalloc::decode {

void sim_executor::charge(std::uint64_t bytes, std::uint64_t operations) {
  time_->enqueue({.bytes = bytes, .operations = operations, .with = precision::single_32});
}

void sim_executor::fill(tensor_output, std::size_t count, const value_source&) { charge(count * sizeof(float), 0); }

void sim_executor::write_index(tensor_output place, std::int32_t) { charge(place.bytes(), 0); }

std::int32_t sim_executor::read_index(tensor_input) {
  time_->synchronise();
  return static_cast<std::int32_t>(scramble(tokens_) % vocabulary_);
}

void sim_executor::gather_row(tensor_input, tensor_input index, tensor_output out) {
  charge(2 * out.bytes() + index.bytes(), 0);
}

void sim_executor::mean_of_squares(tensor_input x, tensor_output out) {
  charge(x.bytes() + out.bytes(), 2 * x.elements());
}

void sim_executor::normalise(tensor_input x, tensor_input mean, tensor_input weight, tensor_output out) {
  charge(x.bytes() + mean.bytes() + weight.bytes() + out.bytes(), 2 * x.elements());
}

void sim_executor::matrix_vector(tensor_input weight, tensor_input x, tensor_output out) {
  charge(weight.bytes() + x.bytes() + out.bytes(), 2 * weight.elements());
}

void sim_executor::rotate_pairs(tensor_input x, tensor_input cosines, tensor_input sines, tensor_output out) {
  charge(x.bytes() + cosines.bytes() + sines.bytes() + out.bytes(), 3 * x.elements());
}

void sim_executor::concatenate(tensor_input before, tensor_input row, tensor_output out) {
  charge(before.bytes() + row.bytes() + out.bytes(), 0);
}

void sim_executor::write_row(tensor_output, tensor_input index, tensor_input row) {
  charge(2 * row.bytes() + index.bytes(), 0);
}

void sim_executor::expand_heads(tensor_input, tensor_output out) { charge(2 * out.bytes(), 0); }

void sim_executor::scores(tensor_input keys, tensor_input query, tensor_output out) {
  charge(keys.bytes() + query.bytes() + out.bytes(), 2 * keys.elements());
}

void sim_executor::scale(tensor_input x, float, tensor_output out) { charge(x.bytes() + out.bytes(), x.elements()); }

void sim_executor::softmax_rows(tensor_input x, tensor_input last, tensor_output out) {
  charge(x.bytes() + last.bytes() + out.bytes(), 4 * x.elements());
}

void sim_executor::weighted_sum(tensor_input weights, tensor_input values, tensor_output out) {
  charge(weights.bytes() + values.bytes() + out.bytes(), 2 * values.elements());
}

void sim_executor::swap_outer(tensor_input x, tensor_output out) { charge(x.bytes() + out.bytes(), 0); }

void sim_executor::add(tensor_input left, tensor_input right, tensor_output out) {
  charge(left.bytes() + right.bytes() + out.bytes(), out.elements());
}

void sim_executor::multiply(tensor_input left, tensor_input right, tensor_output out) {
  charge(left.bytes() + right.bytes() + out.bytes(), out.elements());
}

void sim_executor::silu(tensor_input x, tensor_output out) { charge(x.bytes() + out.bytes(), 4 * x.elements()); }

void sim_executor::index_of_greatest(tensor_input x, tensor_output place) {
  charge(x.bytes() + place.bytes(), x.elements());
  vocabulary_ = x.elements();
  ++tokens_;
}

}  // namespace arcalloc::decode
