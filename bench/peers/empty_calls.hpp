// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace arcalloc::bench {

/// Two calls that do nothing, of the shape of an allocator's: what is left of a pair when the allocator is taken away.
[[nodiscard]] int empty_allocate(void* self, std::size_t bytes, std::uint64_t on, void** out) noexcept;
[[nodiscard]] int empty_deallocate(void* self, void* const* piece) noexcept;

}  // namespace arcalloc::bench
