// SPDX-License-Identifier: Apache-2.0
#include "decode/llama2c.hpp"

#include <cstddef>

namespace arcalloc::decode {

namespace {

constexpr std::uint64_t header_bytes = 7 * sizeof(std::int32_t);

/// Bounds far above any real model: what exceeds them is not a header.
struct header_field {
  const char* name;
  std::uint64_t offset;
  std::int32_t lowest;
  std::int32_t greatest;
};
constexpr header_field dim_field{"dim", 0, 2, 1 << 16};
constexpr header_field hidden_field{"hidden", 4, 1, 1 << 20};
constexpr header_field layers_field{"layers", 8, 1, 1 << 10};
constexpr header_field heads_field{"heads", 12, 1, 1 << 16};
constexpr header_field kv_heads_field{"kv heads", 16, 1, 1 << 16};
constexpr header_field vocabulary_field{"vocabulary", 20, 2, 1 << 22};
constexpr header_field sequence_field{"sequence", 24, 1, 1 << 24};

std::size_t in_range(const input_file& file, const header_field& field, std::int32_t value) {
  if (value < field.lowest || value > field.greatest) {
    file.refuse(std::string(field.name) + " is " + std::to_string(value) + ", outside " + std::to_string(field.lowest) +
                    ".." + std::to_string(field.greatest) + ",",
                field.offset);
  }
  return static_cast<std::size_t>(value);
}

std::size_t read(const input_file& file, const header_field& field) {
  return in_range(file, field, file.int32_at(field.offset));
}

model_config read_header(const input_file& file) {
  if (file.bytes() < header_bytes) file.refuse("a header of 28 bytes is expected, the file ends", file.bytes());
  const std::int32_t vocabulary = file.int32_at(vocabulary_field.offset);
  const bool tied = vocabulary > 0;
  // The lowest int32 has no opposite; it fails the range check as it is.
  const std::int32_t positive = tied || vocabulary == INT32_MIN ? vocabulary : -vocabulary;
  model_config config{.dim = read(file, dim_field),
                      .hidden = read(file, hidden_field),
                      .layers = read(file, layers_field),
                      .heads = read(file, heads_field),
                      .kv_heads = read(file, kv_heads_field),
                      .vocabulary = in_range(file, vocabulary_field, positive),
                      .sequence = read(file, sequence_field),
                      .tied = tied};
  if (config.dim % config.heads != 0 || config.head_dim() % 2 != 0) {
    file.refuse("dim " + std::to_string(config.dim) + " does not make even-sized heads, heads are " +
                    std::to_string(config.heads),
                heads_field.offset);
  }
  if (config.heads % config.kv_heads != 0) {
    file.refuse("kv heads " + std::to_string(config.kv_heads) + " do not divide heads " + std::to_string(config.heads),
                kv_heads_field.offset);
  }
  return config;
}

std::uint64_t tensor_bytes(const model_config& config, weight_kind kind) noexcept {
  const shape extents = weight_shape(config, kind);
  return std::uint64_t{extents.rows} * extents.columns * sizeof(float);
}

std::uint64_t rotary_table_bytes(const model_config& config) noexcept {
  return 2 * (config.sequence * config.head_dim() / 2) * sizeof(float);
}

/// A tensor's worth of bytes of the file, read straight into the tensor.
class file_values final : public value_source {
 public:
  file_values(const input_file& file, std::uint64_t offset) noexcept : file_(&file), offset_(offset) {}
  void write(float* out, std::size_t count) const override { file_->read_at(offset_, out, count * sizeof(float)); }

 private:
  const input_file* file_;
  std::uint64_t offset_;
};

}  // namespace

llama2c_model::llama2c_model(const std::string& path) : file_(path), config_(read_header(file_)) {
  const std::uint64_t end = header_bytes + parameters(config_) * sizeof(float) + rotary_table_bytes(config_);
  if (file_.bytes() < end) {
    file_.refuse("the header asks for " + std::to_string(end) + " bytes, the file ends", file_.bytes());
  }
  if (file_.bytes() > end) {
    file_.refuse(std::to_string(file_.bytes() - end) + " bytes too many after the weights, which end", end);
  }
}

tensor llama2c_model::make(const operations& ops, weight_name name) const {
  return ops.filled(weight_shape(config_, name.kind), file_values{file_, offset_of(name)});
}

std::uint64_t llama2c_model::offset_of(weight_name name) const noexcept {
  std::uint64_t offset = header_bytes;
  for (int i = 0; i < static_cast<int>(name.kind); ++i) {
    const auto before = static_cast<weight_kind>(i);
    offset += tensor_bytes(config_, before) * (is_per_layer(before) ? config_.layers : 1);
  }
  if (name.kind == weight_kind::classifier) offset += rotary_table_bytes(config_);
  return offset + name.layer * tensor_bytes(config_, name.kind);
}

}  // namespace arcalloc::decode
