// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "decode/weights.hpp"

namespace arcalloc::decode {

/// A model that needs no file: its numbers have a name, and its weights a seed.
struct named_config {
  const char* name;
  model_config config;
  std::size_t default_tokens;
};

/// All of them, the default first.
[[nodiscard]] std::span<const named_config> named_configs() noexcept;

/// Throws input_error that lists the names there are.
[[nodiscard]] const named_config& find_config(const std::string& name);

/// Seeded weights of variance 1 / inputs, norms of one: activations keep their size through any number
/// of layers, so that logits are finite and the greedy token varies. The same on every machine.
class seeded_model final : public weight_source {
 public:
  explicit seeded_model(const model_config& config) noexcept : config_(config) {}

  [[nodiscard]] const model_config& config() const noexcept override { return config_; }
  [[nodiscard]] tensor make(const operations& ops, weight_name name) const override;

 private:
  model_config config_;
};

}  // namespace arcalloc::decode
