// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace arcalloc::cli::page {

/// The style sheet of the report page: for light and dark, and for windows from 360 points wide.
const char* style_sheet();

}  // namespace arcalloc::cli::page
