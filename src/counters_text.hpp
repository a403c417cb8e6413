// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/counters.hpp>
#include <cstddef>

#include "bounded_text.hpp"

namespace arcalloc::detail {

// What the texts made of counters have in common, JSON and Prometheus' format, for the interfaces of C++ and of C.

/// Whether ARCALLOC_NO_BOUND is a value of it.
[[nodiscard]] bool is_bound(const counter_field& field) noexcept;

/// False for a field that a C caller's shortened struct lacks: a zero would claim that it was read.
[[nodiscard]] bool has(const counters& values, const counter_field& field) noexcept;

/// Gives the i-th source: its counters copied to `values`, and its labels, perhaps null, as the result.
using nth_source = const char* (*)(const void* sources, std::size_t i, counters& values) noexcept;

/// False where these are not labels as Prometheus writes them between braces.
[[nodiscard]] bool well_formed_labels(const char* labels) noexcept;

/// Appends every field of every source. The labels are well-formed.
void append_metrics(const void* sources, std::size_t count, nth_source nth, bounded_text& out) noexcept;

}  // namespace arcalloc::detail
