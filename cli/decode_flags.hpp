// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "command.hpp"
#include "decode_request.hpp"

namespace arcalloc::cli {

/// The flags as they were given; empty where one was not.
struct decode_flags {
  std::string model;
  std::string tokenizer;
  std::string config;
  std::string prompt;
  std::string tokens;
  std::string context = "0";
  std::string device = "host";
  std::string alloc;
  std::string granularity = "512";
  std::string free;
  std::string ranks = "1";
  std::string layers;
  std::string requests;
  std::string batch = "16";
  std::string chunk = "512";
  std::string draft = "0";
  std::string every = "900";
  std::string seconds;
  std::string legs = "off,unbounded,exact,bounded";
  std::string kv = "concat";
  std::string cap;
  std::string exact_cap = std::to_string(default_exact_cap_mb);
  std::string rounds = "1";
  std::string metrics;
  std::string report;
  std::string json;
  std::string profile;
  std::string record_profile;
  std::string trace;
  bool capture = false;
  bool no_prewarm = false;
};

/// Adds them all to the command line.
void add_flags(CLI::App& line, decode_flags& flags);

/// What they ask for, together. Throws command_failure where one has no such value, or two do not go together.
[[nodiscard]] decode_request request_of(const CLI::App& line, const decode_flags& flags);

}  // namespace arcalloc::cli
