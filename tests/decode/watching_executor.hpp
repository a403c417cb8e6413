// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/host_executor.hpp"

namespace arcalloc::decode {

/// Computes as the host does, and shows each operation's output before it is written (for read_index, what is read).
class watching_executor : public executor {
 public:
  void fill(tensor_output out, std::size_t count, const value_source& values) override {
    before(out);
    host_.fill(out, count, values);
  }
  void write_index(tensor_output place, std::int32_t value) override {
    before(place);
    host_.write_index(place, value);
  }
  [[nodiscard]] std::int32_t read_index(tensor_input place) override {
    before(place);
    return host_.read_index(place);
  }
  void gather_row(tensor_input table, tensor_input index, tensor_output out) override {
    before(out);
    host_.gather_row(table, index, out);
  }
  void mean_of_squares(tensor_input x, tensor_output out) override {
    before(out);
    host_.mean_of_squares(x, out);
  }
  void normalise(tensor_input x, tensor_input mean, tensor_input weight, tensor_output out) override {
    before(out);
    host_.normalise(x, mean, weight, out);
  }
  void matrix_vector(tensor_input weight, tensor_input x, tensor_output out) override {
    before(out);
    host_.matrix_vector(weight, x, out);
  }
  void rotate_pairs(tensor_input x, tensor_input cosines, tensor_input sines, tensor_output out) override {
    before(out);
    host_.rotate_pairs(x, cosines, sines, out);
  }
  void concatenate(tensor_input old_rows, tensor_input row, tensor_output out) override {
    before(out);
    host_.concatenate(old_rows, row, out);
  }
  void write_row(tensor_output table, tensor_input index, tensor_input row) override {
    before(table);
    host_.write_row(table, index, row);
  }
  void expand_heads(tensor_input cache, tensor_output out) override {
    before(out);
    host_.expand_heads(cache, out);
  }
  void scores(tensor_input keys, tensor_input query, tensor_output out) override {
    before(out);
    host_.scores(keys, query, out);
  }
  void scale(tensor_input x, float factor, tensor_output out) override {
    before(out);
    host_.scale(x, factor, out);
  }
  void softmax_rows(tensor_input x, tensor_input last, tensor_output out) override {
    before(out);
    host_.softmax_rows(x, last, out);
  }
  void weighted_sum(tensor_input weights, tensor_input values, tensor_output out) override {
    before(out);
    host_.weighted_sum(weights, values, out);
  }
  void swap_outer(tensor_input x, tensor_output out) override {
    before(out);
    host_.swap_outer(x, out);
  }
  void add(tensor_input left, tensor_input right, tensor_output out) override {
    before(out);
    host_.add(left, right, out);
  }
  void multiply(tensor_input left, tensor_input right, tensor_output out) override {
    before(out);
    host_.multiply(left, right, out);
  }
  void silu(tensor_input x, tensor_output out) override {
    before(out);
    host_.silu(x, out);
  }
  void index_of_greatest(tensor_input x, tensor_output place) override {
    before(place);
    host_.index_of_greatest(x, place);
  }

 protected:
  virtual void before(tensor_input out) = 0;

 private:
  host_executor host_;
};

}  // namespace arcalloc::decode
