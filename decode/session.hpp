// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/counters.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace arcalloc::decode {

/// How the key and value caches are kept.
enum class kv_mode { concat, preallocated };

/// One decode run over one allocator: a real model from files, or a named configuration.
struct session_settings {
  std::string model_path;      ///< llama2.c weights; empty: use config_name
  std::string tokenizer_path;  ///< llama2.c tokenizer; needed with model_path
  std::string config_name;     ///< named configuration with seeded weights
  std::string prompt;          ///< text put before the first generated token; may be empty
  std::size_t tokens = 0;      ///< tokens to generate
  std::size_t context = 0;     ///< positions already in the caches when decoding starts, seeded values
  kv_mode kv = kv_mode::concat;
};

/// What a run came to. `outcome` is ok when all tokens were made; otherwise the allocator's status.
struct session_outcome {
  status outcome = status::ok;
  std::size_t tokens_done = 0;
  std::vector<std::int32_t> tokens;  ///< the generated token ids, for comparing legs
  std::string text;                  ///< what llama2.c would print; ids as text for a configuration without tokenizer
  double decode_seconds = 0;         ///< wall time of the decode steps alone, without callbacks
  counters at_decode_start{};        ///< cumulative counters when the decode phase began
  counters at_half{};                ///< cumulative counters after half of the tokens
  counters at_end{};                 ///< cumulative counters after the last step, before tensors are freed
};

/// A file or name that cannot be used: the message names the file, the offset or the name.
struct input_error {
  std::string message;
};

/// Runs it. `after_token(n)` is called outside the timed region: with 0 when the decode phase begins
/// (weights loaded, prefill done), and after every token with the number done so far. Throws
/// input_error for unusable input, before the first token.
session_outcome run_session(allocator& memory, const session_settings& settings,
                            const std::function<void(std::size_t)>& after_token);

/// The names --config takes, the default first.
std::vector<std::string> config_names();

}  // namespace arcalloc::decode
