// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "trace/formats/event.hpp"
#include "trace/formats/trace_error.hpp"

namespace arcalloc::trace {

/// Where in its trace a replay is: every error names the event. Also holds a trace to one device, as a replay has one.
/// Concurrency: one thread.
class event_place {
 public:
  explicit event_place(std::string file) : file_(std::move(file)) {}

  /// Goes on to the next event. Refuses one of another device than those before.
  void next(const event& what) {
    ++events_;
    if (only_device_.value_or(what.device) != what.device) {
      refuse("is of device " + std::to_string(what.device) + ", those before of device " +
             std::to_string(*only_device_) + "; --trace-device chooses one");
    }
    only_device_ = what.device;
  }

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  /// The number of the event, from 1.
  [[nodiscard]] std::uint64_t number() const noexcept { return events_; }

  [[noreturn]] void refuse(const std::string& why) const {
    throw trace_error{file_ + ": event " + std::to_string(events_) + ' ' + why};
  }

 private:
  std::string file_;
  std::optional<std::uint32_t> only_device_;
  std::uint64_t events_ = 0;
};

}  // namespace arcalloc::trace
