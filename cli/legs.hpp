// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/options.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace arcalloc::cli {

/// One way of keeping memory that is measured against the others.
enum class leg {
  off,        ///< every request goes to the driver
  unbounded,  ///< exact sizes, no cap, no retry: the defect
  exact,      ///< exact sizes under a cap, no retry: the cap alone
  bounded,    ///< arcalloc as it ships
};

const char* leg_name(leg which);

inline constexpr std::uint64_t default_exact_cap_mb = 1024;

/// What the user may say about the legs' bounds.
struct leg_bounds {
  std::optional<std::uint64_t> cap_mb;                ///< --cap: of `bounded`
  std::uint64_t exact_cap_mb = default_exact_cap_mb;  ///< --exact-cap: of `exact`
};

/// The options that `which` runs with. `off`, `unbounded` and `exact` are what they are called
/// whatever the environment says; `bounded` takes `from_environment`, and --cap wins over it.
options leg_options(leg which, const leg_bounds& bounds, const options& from_environment);

/// Parses --legs: names separated by commas, each known, none twice, at least one. Throws
/// command_failure that names the flag and what is wrong.
std::vector<leg> require_legs(const std::string& text);

/// The legs that must survive: when one does not, the exit status says so.
bool must_survive(leg which);

}  // namespace arcalloc::cli
