// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace arcalloc::testing {

/// What every subject of fuzzing defines: plays one input from beginning to end, and judges it. Whatever the bytes are,
/// a subject that is right returns 0; convict ends the process where something does not hold. Deterministic: what it
/// does follows from the bytes alone. One thread.
int one_input(const std::uint8_t* bytes, std::size_t size);

/// Says what does not hold, and ends the process: libFuzzer then writes the input down, and a replay has failed.
[[noreturn]] inline void convict(const std::string& what) {
  std::fprintf(stderr, "convicted: %s\n", what.c_str());
  std::abort();
}

inline void require(bool holds, const char* what) {
  if (!holds) convict(what);
}

/// The bytes of an input, taken from the front. When they have run out everything is 0, so that each prefix of an
/// input means something, too.
class input_bytes {
 public:
  input_bytes(const std::uint8_t* bytes, std::size_t size) : at_(bytes), left_(size) {}

  [[nodiscard]] bool any() const { return left_ > 0; }
  std::uint8_t byte() {
    if (left_ == 0) return 0;
    --left_;
    return *at_++;
  }
  /// One byte's worth of choices: at most 256.
  std::uint64_t below(std::uint64_t choices) { return byte() % choices; }
  /// Little-endian, of `count` bytes.
  std::uint64_t number(int count) {
    std::uint64_t value = 0;
    for (int i = 0; i < count; ++i) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  /// Up to the next zero byte, which is taken, too, or to the end.
  std::string text() {
    std::string taken;
    while (left_ > 0) {
      const std::uint8_t next = byte();
      if (next == 0) break;
      taken.push_back(static_cast<char>(next));
    }
    return taken;
  }

 private:
  const std::uint8_t* at_;
  std::size_t left_;
};

}  // namespace arcalloc::testing
