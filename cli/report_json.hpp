// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "page/trace_page.hpp"

namespace arcalloc::cli {

/// What the page of a trace shows, as JSON, schema "arcalloc.report/1". `page` is where the page was written.
std::string report_json(const page::trace_page_content& content, const std::string& page);

/// The same of the page of a result: `file` is what was read, whole, with its own schema.
std::string report_json_of_result(const std::string& file, const std::string& page, const provenance& from);

}  // namespace arcalloc::cli
