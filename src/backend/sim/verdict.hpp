// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <sstream>
#include <string>
#include <vector>

#include "device_memory.hpp"
#include "fault_plans.hpp"

namespace arcalloc {

/// What a call is in the history, besides sim_call: a number each, for the hash alone.
enum class played : std::uint8_t {
  drop_event = 16,
  use,
  handed_out,
  handed_back,
  busy,
  finish,
  wait,
  begin_capture,
  end_capture,
  others,
  capacity,
  fault,
  faults_by_seed,
  leaks,
  still_out,
  abort_capture,
  launch_graph,
  forget_graph,
  allocate_beside_capture,
};

template <class Value>
[[nodiscard]] std::uint64_t number(Value value) {
  return static_cast<std::uint64_t>(value);
}

[[nodiscard]] inline std::uint64_t place(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// Every call on the simulated device as one hash, and a sentence for each that was a misuse.
///
/// Used by the simulated backend alone. A sentence begins with the number of the call, so that a run
/// from the same seed can be stopped there.
/// Concurrency: none of its own; the backend's mutex. Cost: a few multiplications for a call, text only
/// for a conviction. It decides nothing.
class verdict {
 public:
  /// Before anything else of the call is noted.
  void begin_call() { ++calls_; }

  /// What was called, with what, and what it answered.
  void note(std::initializer_list<std::uint64_t> values) {
    for (const std::uint64_t value : values) hash_ = spread_bits(hash_ ^ value);
  }

  template <class... Parts>
  void convict(const Parts&... parts) {
    std::ostringstream text;
    text << "call " << calls_ << ": ";
    (text << ... << parts);
    sentences_.push_back(text.str());
  }

  [[nodiscard]] std::uint64_t hash() const { return hash_; }
  [[nodiscard]] const std::vector<std::string>& sentences() const { return sentences_; }

 private:
  std::uint64_t calls_ = 0;
  std::uint64_t hash_ = 0;
  std::vector<std::string> sentences_;
};

[[nodiscard]] inline std::string named(const address_range& range) {
  std::ostringstream text;
  text << "[0x" << std::hex << range.begin << std::dec << ", +" << range.bytes() << ")";
  return text.str();
}

[[nodiscard]] inline std::string named(stream on) {
  std::string text("stream ");
  return text.append(std::to_string(static_cast<std::uint64_t>(on)));
}

}  // namespace arcalloc
