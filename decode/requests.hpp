// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace arcalloc::decode {

/// A request to a served model: when it came, how long its prompt is, and how long its answer.
struct served_request {
  std::uint64_t arrival_ns = 0;  ///< after the first one
  std::uint64_t prompt = 0;
  std::uint64_t answer = 0;
};

/// Reads a trace of requests, as Azure publishes them: a header `TIMESTAMP,ContextTokens,GeneratedTokens`, then rows
/// such as `2023-11-16 18:15:46.6805900,374,44`, in the order of arrival. Lengths are at least 1, and a file spans a
/// year at most. Throws input_error that names the file and the line.
[[nodiscard]] std::vector<served_request> read_requests(const std::string& path);

}  // namespace arcalloc::decode
