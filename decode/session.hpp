// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <arcalloc/allocator.hpp>
#include <arcalloc/counters.hpp>

#include "decode/capture_report.hpp"
#include "decode/input_error.hpp"
#include "decode/load_report.hpp"
#include "decode/serving_settings.hpp"

namespace arcalloc::decode {

/// How the key and value caches are kept.
enum class kv_mode { concat, preallocated };

/// One decode run over one allocator: a real model from files, or a named configuration.
/// context + the prompt's positions + tokens must fit the model's sequence.
struct session_settings {
  std::string model_path{};      ///< llama2.c weights; empty: use config_name
  std::string tokenizer_path{};  ///< llama2.c tokenizer; needed with model_path
  std::string config_name{};     ///< named configuration with seeded weights
  std::string prompt{};          ///< text put before the first generated token; may be empty
  std::size_t tokens = 0;        ///< tokens to generate
  std::size_t context = 0;       ///< positions already in the caches when decoding starts, seeded values
  kv_mode kv = kv_mode::concat;
  std::size_t ranks = 1;                      ///< of a load: cards that it is divided among
  std::size_t layers = 0;                     ///< of a load: the first so many alone; 0: all of them
  std::optional<serving_settings> serving{};  ///< of a load: requests instead of one sequence
  bool capture = false;  ///< record one step and replay it for every later token; needs preallocated caches

  // With capture only. A profile is recorded over warm-up steps, unless one is read or prewarm is off.
  bool prewarm = true;                ///< false: neither warm-up steps nor a prewarm before the window
  std::string profile_path{};         ///< a profile file to use
  std::string profile_record_path{};  ///< where to write the recorded one; empty: nowhere
};

/// What a run came to. `outcome` is ok when all tokens were made, or when the model itself stopped
/// (tokens_done is lower then); otherwise the status with which the allocator refused.
struct session_outcome {
  status outcome = status::ok;
  std::size_t tokens_done = 0;
  std::vector<std::int32_t> tokens;  ///< the generated token ids, for comparing legs
  std::string text;                  ///< what llama2.c would print; ids as text for a configuration without tokenizer
  double decode_seconds = 0;         ///< wall time of the finished decode steps alone, without callbacks and without
                                     ///< what a capture takes
  counters at_decode_start{};        ///< cumulative counters when the decode phase began
  counters at_half{};                ///< cumulative counters after tokens / 2; as at_end if never reached
  counters at_end{};                 ///< cumulative counters after the last step, before tensors and graph are freed
  std::optional<capture_report> capture;  ///< nothing where none was asked for, or decoding never began
  std::optional<load_report> load;        ///< of a load on simulated cards
};

class executor;
class capturing_executor;

/// Who does the work of a run, and on which of the allocator's streams: for a device that is not the host.
struct session_device {
  executor& work;                           ///< its clock is the run's
  capturing_executor* capturing = nullptr;  ///< `work` itself, where it can take a step down; null: a list is made of
                                            ///< the step's operations, and `work` does them one by one
  stream on = default_stream;
  std::function<void()> before_decode{};  ///< called when everything is loaded, and no bound of the decode phase is
                                          ///< armed yet; may be empty
};

/// Runs it. `after_token(n)` is called outside the timed region: with 0 when the decode phase begins
/// (weights loaded, prefill done), and after every token with the number done so far. Throws
/// input_error for unusable input, before the first token, and for a recorded profile that cannot be written. Every
/// tensor is freed when it returns, and a graph is released. Null `device`: the host computes. Time is the executor's.
///
/// With capture, the shapes of every decode step are those of the whole sequence. First come the warm-up steps, eager
/// and recorded as a profile, then a prewarm and verify of that, then the window; every later token is a replay.
/// Where the window is refused, the rest is eager.
session_outcome run_session(allocator& memory, const session_settings& settings,
                            const std::function<void(std::size_t)>& after_token,
                            const session_device* device = nullptr);

/// How many eager steps a profile is recorded over, where there are as many tokens.
inline constexpr std::size_t warm_up_steps = 3;

/// The names --config takes, the default first.
std::vector<std::string> config_names();

/// How many tokens a run of this configuration makes unless told otherwise. Throws input_error for
/// an unknown name.
std::size_t default_tokens(const std::string& config);

}  // namespace arcalloc::decode
