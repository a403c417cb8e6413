// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/arcalloc.h>
#include <arcalloc/options.hpp>

namespace arcalloc::detail {

// Options between C and C++. In C a zero is what is shipped, so what is on by default is a switch of
// three states there. Pure; any thread. Sinks stay behind: a C function may not be called as a
// noexcept one, so whoever calls it stands in between.

/// False where a value is not listed; `out` is then unspecified. Its sink is left out.
[[nodiscard]] bool read_options(const arcalloc_options& given, options& out) noexcept;

/// Leaves `out` where the policy is "as configured". False where it is not listed.
[[nodiscard]] bool read_policy(arcalloc_capture_policy given, capture_policy& out) noexcept;

/// Writes all but the sink.
void write_options(const options& settings, arcalloc_options& out) noexcept;

}  // namespace arcalloc::detail
