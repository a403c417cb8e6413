// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace arcalloc::cli {

/// The name under which the program starts itself for one leg; not for users.
inline constexpr const char* leg_worker_command = "decode-leg";

/// Runs one leg in this process, which `arcalloc decode` started for it: takes the request from the
/// channel, decodes, waits for a go at every decile of the tokens, and answers with the report.
/// Returns the process's exit status.
int run_leg_worker();

}  // namespace arcalloc::cli
