// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace arcalloc::decode {

inline constexpr std::uint64_t ns_in_a_second = 1'000'000'000;

/// How a load serves requests, instead of decoding one sequence.
struct serving_settings {
  std::string requests_path{};     ///< as read_requests reads it
  std::uint64_t batch = 16;        ///< sequences at once
  std::uint64_t chunk_rows = 512;  ///< of prompts, in one pass, over all sequences
  std::uint64_t draft = 0;         ///< positions guessed ahead in each decode step
  std::uint64_t window_s = 900;    ///< of virtual time, that a line of the report is about
  std::uint64_t stop_after_s = 0;  ///< the file is repeated until then; 0: it is served once
};

}  // namespace arcalloc::decode
