// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "decode/charged_memory.hpp"
#include "decode/session.hpp"

namespace arcalloc::decode {

/// What one step came to. A plain decode makes a token of its one sequence.
struct load_step {
  std::uint64_t tokens = 1;         ///< of answers
  std::uint64_t prompt_tokens = 0;  ///< absorbed
  std::uint64_t requests_done = 0;
  std::uint64_t sequences = 1;         ///< in the batch
  std::uint64_t sequences_after = 1;   ///< without those that are done
  std::uint64_t waiting = 0;           ///< requests without a place in the batch
  std::uint64_t requests_come = 0;     ///< so far
  std::uint64_t requests_skipped = 0;  ///< of these
};

/// What an engine asks of memory and of a card, token by token, where nothing is computed.
///
/// Called by run_load on one thread. Everything it has is freed with it. A load throws memory_refused. Times count from
/// the end of begin(), and are the same on all ranks.
class load {
 public:
  virtual ~load() = default;

  /// What is there before decoding: weights, and the caches of so many positions.
  virtual void begin(std::size_t context) = 0;
  /// How long there is nothing to do.
  [[nodiscard]] virtual std::uint64_t idle_ns(std::uint64_t) { return 0; }
  /// One decode step.
  virtual load_step step(std::uint64_t now_ns) = 0;
  /// Whether there is nothing more to do, ever.
  [[nodiscard]] virtual bool is_done(std::uint64_t) { return false; }
  /// Of its weights, as requested.
  [[nodiscard]] virtual std::uint64_t weight_bytes() const noexcept { return 0; }
};

/// One card of a load: its memory, its clock, and the device below.
struct load_rank {
  allocator* memory;
  device_timeline* time;
  const sim_backend* device;
};

/// A load that has a name, for --config. It needs a simulated device.
struct named_load {
  std::string name;
  std::size_t default_tokens;
  std::size_t positions_most;  ///< context and tokens together
  std::function<std::unique_ptr<load>(const charged_memory& memory, const session_settings& settings, std::size_t rank)>
      make;
  /// Nothing, or why it cannot be divided among so many ranks.
  std::function<std::string(std::size_t ranks)> refusal_of;
  std::size_t layers = 0;  ///< of a published model, which can serve requests and be cut to its first layers; else 0
};

/// All of them.
[[nodiscard]] const std::vector<named_load>& named_loads();

/// Null where none has the name.
[[nodiscard]] const named_load* find_load(const std::string& name);

/// Runs a load as run_session runs a model, on one card or several, with their clocks: after each step the ranks wait
/// for the slowest. The counters are sums over the ranks, steps too, so a figure per step is one rank's. Requires:
/// settings.config_name is a load's; as many ranks as settings.ranks. With settings.serving it serves requests, in the
/// phase mixed, and ends when they are answered, or settings.tokens are made, or the time has come. Throws input_error
/// where the positions are more than it has, it cannot be divided so, or the requests cannot be read.
session_outcome run_load(std::span<const load_rank> ranks, const session_settings& settings,
                         const std::function<void()>& before_decode,
                         const std::function<void(std::size_t)>& after_token);

}  // namespace arcalloc::decode
