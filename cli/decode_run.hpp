// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "decode_result.hpp"

namespace arcalloc::cli {

/// Runs the legs of `result.request`, round by round, and keeps their runs in `result.legs`. Holds the
/// lock of the host or of the CUDA device meanwhile, and checks before every leg that its memory is there; a simulated
/// card is each leg's own, and its legs run side by side. Shows a progress line on stderr where that is a terminal.
/// Throws command_failure: device_refused when the device is not empty, bad_usage when a leg refuses its input; and
/// `interrupted`.
void run_legs(decode_result& result, const options& from_environment);

}  // namespace arcalloc::cli
