// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdarg>
#include <cstddef>
#include <cstdio>

namespace arcalloc::cuda {

/// One sentence, cut to its room: what went wrong last. No concurrency of its own.
class error_text {
 public:
  [[gnu::format(printf, 2, 3)]] void set(const char* format, ...) noexcept {
    va_list values;
    va_start(values, format);
    std::vsnprintf(text_, sizeof text_, format, values);
    va_end(values);
  }
  [[nodiscard]] const char* text() const noexcept { return text_; }

 private:
  char text_[384] = "";
};

}  // namespace arcalloc::cuda
