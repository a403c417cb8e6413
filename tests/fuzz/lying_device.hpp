// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/arcalloc.h>
#include <arcalloc/sim_backend.hpp>

#include "one_input.hpp"

namespace arcalloc::testing {

/// A C caller's device over the simulated one, which can be told to answer one call with what no device may answer.
/// One thread.
class lying_device {
 public:
  enum class lie : std::uint8_t {
    none,
    strange_status,     ///< the next call of any kind answers a status that a device cannot mean
    lends_null,         ///< the next allocate says ok, and lends nothing
    lends_misaligned,   ///< the next allocate lends at an odd address
    event_zero,         ///< the next event recorded is none
    finished_is_seven,  ///< the next query answers neither 0 nor 1
  };
  static constexpr std::uint64_t lies = 6;

  explicit lying_device(const sim_options& made_of) : sim(made_of) {}

  [[nodiscard]] arcalloc_backend functions() {
    arcalloc_backend made{};
    made.granularity = sim.granularity();
    made.name = "lying";
    made.context = this;
    made.allocate = [](void* self, std::size_t bytes, arcalloc_stream on, void** address) {
      return of(self).allocate(bytes, on, address);
    };
    made.free = [](void* self, void* address, std::size_t bytes) { return of(self).free(address, bytes); };
    made.query_memory = [](void* self, std::uint64_t* free_bytes, std::uint64_t* total_bytes) {
      if (of(self).takes(lie::strange_status)) return arcalloc_status{99};
      memory_info said;
      const status outcome = of(self).sim.query_memory(said);
      *free_bytes = said.free_bytes;
      *total_bytes = said.total_bytes;
      return static_cast<arcalloc_status>(outcome);
    };
    made.record_event = [](void* self, arcalloc_stream on, std::uint64_t* recorded) {
      return of(self).record_event(on, recorded);
    };
    made.query_event = [](void* self, std::uint64_t point, std::int32_t* finished) {
      return of(self).query_event(point, finished);
    };
    made.wait_event = [](void* self, std::uint64_t point) {
      if (of(self).takes(lie::strange_status)) return arcalloc_status{ARCALLOC_DOUBLE_FREE};
      return static_cast<arcalloc_status>(of(self).sim.wait_event(event{point}));
    };
    made.drop_event = [](void* self, std::uint64_t point) { of(self).sim.drop_event(event{point}); };
    return made;
  }

  sim_backend sim;
  lie next = lie::none;
  bool has_lied = false;

 private:
  static lying_device& of(void* self) { return *static_cast<lying_device*>(self); }
  static void* misaligned() { return reinterpret_cast<void*>(std::uintptr_t{0x10001}); }

  bool takes(lie one) {
    if (next != one) return false;
    next = lie::none;
    return has_lied = true;
  }

  arcalloc_status allocate(std::size_t bytes, arcalloc_stream on, void** address) {
    if (takes(lie::strange_status)) return ARCALLOC_UNKNOWN_POINTER;
    if (takes(lie::lends_null)) return ARCALLOC_OK;
    if (takes(lie::lends_misaligned)) {
      *address = misaligned();
      return ARCALLOC_OK;
    }
    return static_cast<arcalloc_status>(sim.allocate(bytes, stream{on}, *address));
  }
  arcalloc_status free(void* address, std::size_t bytes) {
    if (address == misaligned()) return ARCALLOC_OK;
    if (takes(lie::strange_status)) return -5;
    return static_cast<arcalloc_status>(sim.free(address, bytes));
  }
  arcalloc_status record_event(arcalloc_stream on, std::uint64_t* recorded) {
    if (takes(lie::strange_status)) return INT32_MAX;
    if (takes(lie::event_zero)) return ARCALLOC_OK;
    event point = event::none;
    const status outcome = sim.record_event(stream{on}, point);
    *recorded = static_cast<std::uint64_t>(point);
    return static_cast<arcalloc_status>(outcome);
  }
  arcalloc_status query_event(std::uint64_t point, std::int32_t* finished) {
    if (takes(lie::strange_status)) return ARCALLOC_CAPTURE_MISS;
    if (takes(lie::finished_is_seven)) {
      *finished = 7;
      return ARCALLOC_OK;
    }
    bool passed = false;
    const status outcome = sim.query_event(event{point}, passed);
    *finished = passed ? 1 : 0;
    return static_cast<arcalloc_status>(outcome);
  }
};

}  // namespace arcalloc::testing
