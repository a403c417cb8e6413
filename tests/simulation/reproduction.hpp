// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>

#include "plan.hpp"

namespace arcalloc::testing {

/// What `job` says in a process of its own: a crash is a sentence like any other, with what was said on stderr.
/// Requires: the calling process has one thread.
[[nodiscard]] std::string say_apart(const std::function<std::string()>& job);

/// Plays a plan apart, and says what is wrong with it.
[[nodiscard]] std::string judge_apart(const plan& of);

/// Shrinks a failing plan and writes it to `name`.ops, in the directory that ARCALLOC_SIMULATION_OUT names, else in the
/// present one. Returns what to tell: the file and what it shows, or why there is none.
[[nodiscard]] std::string write_reproduction(const plan& failing, const std::string& name);

}  // namespace arcalloc::testing
