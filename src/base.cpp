// SPDX-License-Identifier: Apache-2.0
#include "base.hpp"

#include <cstdio>
#include <cstdlib>

namespace arcalloc::detail {

void assertion_failed(const char* file, int line, const char* claim) noexcept {
  std::fprintf(stderr, "arcalloc: internal error at %s:%d: %s\n", file, line, claim);
  std::abort();
}

}  // namespace arcalloc::detail
