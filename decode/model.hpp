// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "decode/kv_cache.hpp"
#include "decode/ops.hpp"
#include "decode/weights.hpp"

namespace arcalloc::decode {

/// How many positions attention runs over.
enum class attention_span {
  filled,  ///< those there are: the shapes of a step grow with the context
  whole,   ///< all of a preallocated cache, where what lies beyond the position weighs exactly nothing: the shapes, and
           ///< so the requests, are the same at every step, and the results are the same to the bit
};

/// A Llama-family decoder that runs eagerly: one fresh tensor per operation, 28 a layer with a
/// concatenated cache (26 with a preallocated one) and 4 outside, or 1 without logits.
///
/// Called by run_session once a position; calls `operations`. The token and the position are read on the device,
/// from the places they lie in; the caller writes the one and has the cache advance the other afterwards. A tensor is
/// freed as soon as the code that made it has no more use for it.
/// Concurrency: one thread. Throws memory_refused, with everything made in the call freed.
class model {
 public:
  model(const operations& ops, const weight_source& source)
      : ops_(ops), config_(source.config()), weights_(load_weights(ops, source)) {}

  /// Runs one position: the token that lies in `token`, at the cache's position.
  void absorb(const tensor& token, kv_cache& cache, attention_span span = attention_span::filled) const {
    static_cast<void>(layers(token, cache, span));
  }

  /// The same, and returns the logits of the next token. Requires: a whole span goes with a preallocated cache.
  [[nodiscard]] tensor forward(const tensor& token, kv_cache& cache,
                               attention_span span = attention_span::filled) const;

  [[nodiscard]] const model_config& config() const noexcept { return config_; }

 private:
  [[nodiscard]] tensor layers(const tensor& token, kv_cache& cache, attention_span span) const;
  [[nodiscard]] tensor norm(const tensor& x, const tensor& weight) const;
  [[nodiscard]] tensor attention(std::size_t layer, const tensor& x, kv_cache& cache, attention_span span) const;
  [[nodiscard]] tensor attend(std::size_t layer, tensor query, const kv_cache& cache, attention_span span) const;
  [[nodiscard]] tensor feed_forward(const layer_weights& weights, const tensor& x) const;

  operations ops_;
  model_config config_;
  model_weights weights_;
};

}  // namespace arcalloc::decode
