// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "decode/session.hpp"

namespace arcalloc::cli {

/// What the parent of a leg and the leg's process say to each other: one JSON value a line, over a
/// socket. First the request goes down; then, each time a decile of the tokens is done, a mark comes
/// up and the leg waits for a go; last comes the report, or a refusal of the input, and a go ends it.
/// Text travels as hexadecimal bytes, since prompts, paths and generated text need not be UTF-8.

/// All that a leg's process needs to know: it reads no setting of its own.
struct leg_request {
  decode::session_settings session;
  std::uint64_t device_bytes = 0;
  options memory;                   ///< the sink is not carried: a leg that reports steps does so to stderr
  std::string memory_profile_path;  ///< on arrival, what options::profile_path is to point to; empty: null
  std::string memory_trace_path;    ///< the same of options::trace_path
};

/// What a leg's process found.
struct leg_report {
  decode::session_outcome outcome;
  cap_arithmetic cap;
};

/// `tokens` are done and the leg waits for a go.
struct leg_mark {
  std::uint64_t tokens = 0;
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
