// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

#include "trace/formats/event.hpp"

namespace arcalloc::trace {

/// The first line of each text format: what tells them apart.
inline constexpr std::string_view csv_columns = "t_us,op,id,size,stream";
inline constexpr std::string_view lifetimes_columns = "id,lower,upper,size";
inline constexpr std::string_view rmm_columns = "Thread,Time,Action,Pointer,Size,Stream";

/// Times are kept in nanoseconds; these formats count microseconds.
inline constexpr std::uint64_t ns_per_us = 1000;
inline constexpr std::uint64_t time_us_max = time_ns_max / ns_per_us;

}  // namespace arcalloc::trace
