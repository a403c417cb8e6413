// SPDX-License-Identifier: Apache-2.0
// In a file of its own, so that no caller can see that there is nothing to call.
#include "empty_calls.hpp"

namespace arcalloc::bench {

int empty_allocate(void*, std::size_t, std::uint64_t, void**) noexcept { return 0; }
int empty_deallocate(void*, void* const*) noexcept { return 0; }

}  // namespace arcalloc::bench
