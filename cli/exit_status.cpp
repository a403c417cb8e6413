// SPDX-License-Identifier: Apache-2.0
#include "exit_status.hpp"

#include <cstdio>

namespace arcalloc::cli {

std::string one_line(std::string_view text) {
  constexpr char digits[] = "0123456789abcdef";
  std::string line;
  line.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '\n') {
      line += "\\n";
    } else if (c == '\t') {
      line += "\\t";
    } else if (byte < 0x20 || byte == 0x7f) {
      line += "\\x";
      line += digits[byte >> 4];
      line += digits[byte & 15];
    } else {
      line += c;
    }
  }
  return line;
}

void print_error(std::string_view text) { std::fprintf(stderr, "arcalloc: %s\n", one_line(text).c_str()); }

}  // namespace arcalloc::cli
