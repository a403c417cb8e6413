// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>

#include "audit.hpp"

namespace arcalloc::testing {

/// An engine over the simulated device: it tells the device who owns what and enqueues work on
/// every block it gets, so that memory handed on too early is a conviction.
class simulated_engine {
 public:
  explicit simulated_engine(const options& settings = {}, const sim_options& made_of = {}) : device(made_of) {
    if (settings.capacity_bytes != 0) device.set_capacity_bytes(settings.capacity_bytes);
    allocator* raw = nullptr;
    EXPECT_EQ(allocator::create(device, settings, raw), status::ok);
    memory.reset(raw);
  }

  status try_get(std::uint64_t bytes, stream on, block& piece) {
    const status outcome = memory->allocate(bytes, on, piece);
    if (outcome == status::ok) {
      const stream meant = on == per_thread_stream ? this_thread_stream() : on;
      device.handed_out(meant, piece.data(), bytes);
      device.use(meant, piece.data(), bytes);
    }
    return outcome;
  }
  block get(std::uint64_t bytes, stream on = default_stream) {
    block piece;
    EXPECT_EQ(try_get(bytes, on, piece), status::ok) << bytes;
    return piece;
  }
  /// Work on another stream than the block's own, told to the allocator.
  void use(const block& piece, std::uint64_t bytes, stream on) {
    device.use(on, piece.data(), bytes);
    EXPECT_EQ(memory->note_use(piece, on), status::ok);
  }
  /// The device hears of it first, since the free may send the range to the driver.
  status try_put(const block& piece) {
    device.handed_back(piece.data());
    return memory->deallocate(piece);
  }
  void put(const block& piece) { EXPECT_EQ(try_put(piece), status::ok); }

  [[nodiscard]] counters now() const {
    counters said;
    memory->read_counters(said);
    return said;
  }
  void check() const {
    for (const std::string& violation : check_invariants(*memory)) ADD_FAILURE() << violation;
    for (const std::string& conviction : device.convictions()) ADD_FAILURE() << conviction;
    EXPECT_EQ(now().reserved_bytes, device.lent_bytes());
  }

  sim_backend device;
  allocator_ptr memory;
};

}  // namespace arcalloc::testing
