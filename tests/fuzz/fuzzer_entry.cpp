// SPDX-License-Identifier: Apache-2.0
// What libFuzzer calls: its name is libFuzzer's.
#include "one_input.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* bytes, std::size_t size) {
  return arcalloc::testing::one_input(bytes, size);
}
