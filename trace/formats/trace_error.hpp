// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace arcalloc::trace {

/// A trace that cannot be read or written: `message` is one line that names the file, and the line or the byte.
struct trace_error {
  std::string message;
};

}  // namespace arcalloc::trace
