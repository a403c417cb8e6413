// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace arcalloc::decode {

/// A file or name that cannot be used: the message names the file, the offset or the name.
struct input_error {
  std::string message;
};

}  // namespace arcalloc::decode
