// SPDX-License-Identifier: Apache-2.0
#include "decode/executor.hpp"

#include <chrono>

namespace arcalloc::decode {

std::uint64_t executor::now_ns() const {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace arcalloc::decode
