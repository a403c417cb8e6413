// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
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
};

/// A load that has a name, for --config. It needs a simulated device.
struct named_load {
  const char* name;
  std::size_t default_tokens;
  std::size_t positions_most;  ///< context and tokens together
  std::unique_ptr<load> (*make)(const charged_memory& memory, const session_settings& settings);
};

/// All of them.
[[nodiscard]] const std::vector<named_load>& named_loads();

/// Null where none has the name.
[[nodiscard]] const named_load* find_load(const std::string& name);

/// Runs a load as run_session runs a model, with the clock of its device. Requires: settings.config_name is a load's.
/// Throws input_error where the positions are more than it has.
session_outcome run_load(allocator& memory, device_timeline& time, const session_settings& settings,
                         const std::function<void()>& before_decode,
                         const std::function<void(std::size_t)>& after_token);

}  // namespace arcalloc::decode
