// SPDX-License-Identifier: Apache-2.0
#include "decode/ops.hpp"

namespace arcalloc::decode {

tensor operations::filled(const shape& extents, const value_source& values) const {
  tensor out = memory_->make(extents);
  compute_->fill(out, out.elements(), values);
  return out;
}

tensor operations::gather_row(const tensor& table, const tensor& index) const {
  tensor out = memory_->make({.columns = table.extents().columns});
  compute_->gather_row(table, index, out);
  return out;
}

tensor operations::mean_of_squares(const tensor& x) const {
  tensor out = memory_->make({});
  compute_->mean_of_squares(x, out);
  return out;
}

tensor operations::normalise(const tensor& x, const tensor& mean, const tensor& weight) const {
  tensor out = memory_->make(x.extents());
  compute_->normalise(x, mean, weight, out);
  return out;
}

tensor operations::matrix_vector(const tensor& weight, const tensor& x) const {
  tensor out = memory_->make({.columns = weight.extents().rows});
  compute_->matrix_vector(weight, x, out);
  return out;
}

tensor operations::rotate_pairs(const tensor& x, const tensor& cosines, const tensor& sines) const {
  tensor out = memory_->make(x.extents());
  compute_->rotate_pairs(x, cosines, sines, out);
  return out;
}

tensor operations::concatenate(const tensor& before, const tensor& row) const {
  tensor out = memory_->make({.rows = before.extents().rows + 1, .columns = row.elements()});
  compute_->concatenate(before, row, out);
  return out;
}

tensor operations::expand_heads(const tensor& cache, const shape& extents) const {
  tensor out = memory_->make(extents);
  compute_->expand_heads(cache, out);
  return out;
}

tensor operations::scores(const tensor& keys, const tensor& query) const {
  tensor out = memory_->make({.rows = keys.extents().planes, .columns = keys.extents().rows});
  compute_->scores(keys, query, out);
  return out;
}

tensor operations::scale(const tensor& x, float factor) const {
  tensor out = memory_->make(x.extents());
  compute_->scale(x, factor, out);
  return out;
}

tensor operations::softmax_rows(const tensor& x, const tensor& last) const {
  tensor out = memory_->make(x.extents());
  compute_->softmax_rows(x, last, out);
  return out;
}

tensor operations::weighted_sum(const tensor& weights, const tensor& values) const {
  tensor out = memory_->make({.planes = values.extents().planes, .columns = values.extents().columns});
  compute_->weighted_sum(weights, values, out);
  return out;
}

tensor operations::swap_outer(const tensor& x) const {
  const auto [planes, rows, columns] = x.extents();
  tensor out = memory_->make({.planes = rows, .rows = planes, .columns = columns});
  compute_->swap_outer(x, out);
  return out;
}

tensor operations::add(const tensor& left, const tensor& right) const {
  tensor out = memory_->make(left.extents());
  compute_->add(left, right, out);
  return out;
}

tensor operations::multiply(const tensor& left, const tensor& right) const {
  tensor out = memory_->make(left.extents());
  compute_->multiply(left, right, out);
  return out;
}

tensor operations::silu(const tensor& x) const {
  tensor out = memory_->make(x.extents());
  compute_->silu(x, out);
  return out;
}

tensor operations::index(std::int32_t value) const {
  tensor out = memory_->make({});
  compute_->write_index(out, value);
  return out;
}

void operations::fill_rows(tensor& table, std::size_t rows, const value_source& values) const {
  compute_->fill(table, rows * table.extents().columns, values);
}

void operations::write_row(tensor& table, const tensor& index, const tensor& row) const {
  compute_->write_row(table, index, row);
}

void operations::write_index(tensor& place, std::int32_t value) const { compute_->write_index(place, value); }

std::int32_t operations::read_index(const tensor& place) const { return compute_->read_index(place); }

void operations::index_of_greatest(const tensor& x, tensor& place) const { compute_->index_of_greatest(x, place); }

}  // namespace arcalloc::decode
