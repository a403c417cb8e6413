// SPDX-License-Identifier: Apache-2.0
// What nearly every test says: sizes in bytes, and the first streams of an engine.
#pragma once

#include <arcalloc/backend.hpp>
#include <cstdint>

namespace arcalloc::testing {

inline constexpr std::uint64_t kib = 1 << 10;
inline constexpr std::uint64_t mib = 1 << 20;
inline constexpr std::uint64_t gib = 1 << 30;

inline constexpr stream s1{1};
inline constexpr stream s2{2};
inline constexpr stream s3{3};

}  // namespace arcalloc::testing
