// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "decode/kv_cache.hpp"
#include "decode/ops.hpp"
#include "decode/weights.hpp"

namespace arcalloc::decode {

/// A Llama-family decoder that runs eagerly: one fresh tensor per operation, 28 a layer with a
/// concatenated cache (26 with a preallocated one) and 4 outside, or 1 without logits.
///
/// Called by run_session once a position; calls `operations`. A tensor is freed as soon as the code
/// that made it has no more use for it.
/// Concurrency: one thread. Throws memory_refused, with everything made in the call freed.
class model {
 public:
  model(const operations& ops, const weight_source& source)
      : ops_(ops), config_(source.config()), weights_(load_weights(ops, source)) {}

  /// Runs one position and appends it to `cache`.
  void absorb(std::int32_t token, kv_cache& cache) const { static_cast<void>(layers(token, cache)); }

  /// The same, and returns the logits of the next token.
  [[nodiscard]] tensor forward(std::int32_t token, kv_cache& cache) const;

  [[nodiscard]] const model_config& config() const noexcept { return config_; }

 private:
  [[nodiscard]] tensor layers(std::int32_t token, kv_cache& cache) const;
  [[nodiscard]] tensor norm(const tensor& x, const tensor& weight) const;
  [[nodiscard]] tensor attention(std::size_t layer, const tensor& x, kv_cache& cache) const;
  [[nodiscard]] tensor attend(std::size_t layer, tensor query, const kv_cache& cache) const;
  [[nodiscard]] tensor feed_forward(const layer_weights& weights, const tensor& x) const;

  operations ops_;
  model_config config_;
  model_weights weights_;
};

}  // namespace arcalloc::decode
