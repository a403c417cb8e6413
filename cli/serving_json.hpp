// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "decode/serving_report.hpp"
#include "json_text.hpp"

namespace arcalloc::cli {

/// What serving came to, null where nothing was served: in the result's file, and between a leg and its parent.
[[nodiscard]] ordered_json serving_json(const std::optional<decode::serving_report>& report);

/// The other way. Throws nlohmann's exceptions where it is none.
[[nodiscard]] std::optional<decode::serving_report> serving_from(const nlohmann::json& object);

}  // namespace arcalloc::cli
