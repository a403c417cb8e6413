// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <cstddef>
#include <map>
#include <mutex>
#include <optional>

#include "driver_calls.hpp"

namespace arcalloc::preload {

class context_memory;

/// A block that a program has from us.
struct live_block {
  context_memory* owner = nullptr;
  block piece{};
  std::size_t bytes = 0;    ///< as asked for
  bool is_settled = false;  ///< whether it was asked for without a stream
};

/// The blocks that are out, of all contexts, by address: whose is what a program frees, or asks about.
///
/// Concurrency: any thread; a mutex. Cost: a search in an ordered map, less than a call of the driver.
class live_blocks {
 public:
  [[nodiscard]] static live_blocks& all() noexcept;

  /// False where the host has no memory; then nothing is kept.
  [[nodiscard]] bool keep(device_address address, const live_block& fresh) noexcept;
  [[nodiscard]] std::optional<live_block> find(device_address address) noexcept;
  /// The same, and it is out no more.
  [[nodiscard]] std::optional<live_block> take(device_address address) noexcept;
  /// The block around an address, and where it begins.
  [[nodiscard]] std::optional<live_block> around(device_address address, device_address& begin) noexcept;
  void forget(const context_memory& owner) noexcept;

 private:
  std::mutex mutex_;
  std::map<device_address, live_block> blocks_;
};

}  // namespace arcalloc::preload
