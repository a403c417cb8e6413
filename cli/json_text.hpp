// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/counters.hpp>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "provenance.hpp"

namespace arcalloc::cli {

/// The pieces of JSON that several commands write. Members keep the order in which they are set.
using ordered_json = nlohmann::ordered_json;

template <class Value>
ordered_json json_or_null(const std::optional<Value>& value) {
  return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// A bound in bytes; null where there is none.
ordered_json bound_json(std::uint64_t bytes);
ordered_json cap_json(const cap_arithmetic& cap);
ordered_json counters_json(const counters& values);
ordered_json settings_json(const std::vector<setting_view>& settings);
ordered_json provenance_json(const provenance& from);

/// Indented, with a line feed at the end; bytes that are not UTF-8 replaced.
std::string json_file(const ordered_json& value);

}  // namespace arcalloc::cli
