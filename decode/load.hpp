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

/// What an engine asks of memory and of a card, token by token, where nothing is computed.
///
/// Called by run_load on one thread. Everything it has is freed with it. A load throws memory_refused.
class load {
 public:
  virtual ~load() = default;

  /// What is there before decoding: weights, and the caches of so many positions.
  virtual void begin(std::size_t context) = 0;
  /// One decode step.
  virtual void step() = 0;
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
};

/// All of them.
[[nodiscard]] const std::vector<named_load>& named_loads();

/// Null where none has the name.
[[nodiscard]] const named_load* find_load(const std::string& name);

/// Runs a load as run_session runs a model, on one card or several, with their clocks: after each step the ranks wait
/// for the slowest. The counters are sums over the ranks, steps too, so a figure per step is one rank's. Requires:
/// settings.config_name is a load's; as many ranks as settings.ranks. Throws input_error where the positions are more
/// than it has, or it cannot be divided so.
session_outcome run_load(std::span<const load_rank> ranks, const session_settings& settings,
                         const std::function<void()>& before_decode,
                         const std::function<void(std::size_t)>& after_token);

}  // namespace arcalloc::decode
