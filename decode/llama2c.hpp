// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "decode/input_file.hpp"
#include "decode/weights.hpp"

namespace arcalloc::decode {

/// A model file of llama2.c: seven int32 (dim, hidden, layers, heads, kv heads, vocabulary, sequence; a
/// negative vocabulary: the classifier is not tied), then float32 arrays in the order of weight_kind,
/// each for all layers, with two rotary tables (skipped) before the classifier.
///
/// The header and the file's length are checked when it is opened, before any tensor is made.
/// Throws input_error that names the file and the offset.
class llama2c_model final : public weight_source {
 public:
  explicit llama2c_model(const std::string& path);

  [[nodiscard]] const model_config& config() const noexcept override { return config_; }
  [[nodiscard]] tensor make(const operations& ops, weight_name name) const override;

 private:
  [[nodiscard]] std::uint64_t offset_of(weight_name name) const noexcept;

  input_file file_;
  model_config config_;
};

}  // namespace arcalloc::decode
