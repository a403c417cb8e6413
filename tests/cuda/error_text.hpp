// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/cuda_backend.hpp>
#include <string>

namespace arcalloc::testing {

/// What the device says of its last failure.
inline std::string text_of(const cuda_backend& device) {
  char text[400];
  device.error_text(text, sizeof text);
  return text;
}

}  // namespace arcalloc::testing
