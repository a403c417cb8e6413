// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "decode/session.hpp"
#include "figures.hpp"
#include "sim_device.hpp"

namespace arcalloc::cli {

/// What the parent of a leg and the leg's process say to each other: one JSON value a line, over a
/// socket. First the request goes down; then, each time a decile of the tokens is done, a mark comes
/// up and the leg waits for a go; last comes the report, or a refusal of the input, and a go ends it.
/// Text travels as hexadecimal bytes, since prompts, paths and generated text need not be UTF-8.

/// All that a leg's process needs to know: it reads no setting of its own.
struct leg_request {
  decode::session_settings session;
  std::uint64_t device_bytes = 0;     ///< of the host
  options memory;                     ///< the sink is not carried: a leg that reports steps does so to stderr
  std::string memory_profile_path;    ///< on arrival, what options::profile_path is to point to; empty: null
  std::string memory_trace_path;      ///< the same of options::trace_path
  std::optional<int> cuda_ordinal{};  ///< nothing: no CUDA device
  bool is_stream_ordered = false;     ///< of CUDA: memory comes from a pool of the driver's
  std::optional<sim_choice> sim{};    ///< nothing: no simulated card; where both are nothing, the host
  std::uint16_t metrics_port = 0;     ///< where the leg serves its counters; 0: nowhere
  std::string name{};                 ///< of the leg
};

/// What a simulated card saw of its leg.
struct device_report {
  std::vector<memory_sample> samples;  ///< twice a second of its time
  std::uint64_t used_bytes_peak = 0;   ///< after any token
  std::string conviction;              ///< the first of its verdict; empty: innocent
};

/// What a leg's process found.
struct leg_report {
  decode::session_outcome outcome;
  cap_arithmetic cap;
  std::optional<device_report> device{};  ///< nothing: the leg was watched from outside
};

/// `tokens` are done and the leg waits for a go.
struct leg_mark {
  std::uint64_t tokens = 0;
  std::optional<std::uint64_t> used_bytes{};  ///< of the leg's simulated card
};

/// The input cannot be used.
struct leg_refusal {
  std::string message;
};

using leg_word = std::variant<leg_mark, leg_report, leg_refusal>;

std::string request_line(const leg_request& request);
std::string word_line(const leg_word& word);

/// Nothing when the line is no such message.
std::optional<leg_request> request_from(const std::string& line);
std::optional<leg_word> word_from(const std::string& line);

}  // namespace arcalloc::cli
