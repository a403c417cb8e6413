// SPDX-License-Identifier: Apache-2.0
#pragma once

/// Where a case begins and ends: compare.py has callgrind look for these names.
extern "C" void begin_of_case();
extern "C" void end_of_case();
