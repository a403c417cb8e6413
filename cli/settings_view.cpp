// SPDX-License-Identifier: Apache-2.0
#include "settings_view.hpp"

#include <unistd.h>

#include <algorithm>
#include <arcalloc/settings.hpp>
#include <cstdlib>
#include <cstring>

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

constexpr const char* switch_name = "ARC_ALLOC_CACHE";
constexpr const char* older_switch_name = "ARC_CANDLE_ALLOC_CACHE";

/// The variables to look at; all others count as not set.
struct shown_names {
  const char* first = nullptr;
  const char* second = nullptr;
};

const char* look_up_shown(void* context, const char* name) noexcept {
  const auto* shown = static_cast<const shown_names*>(context);
  const auto is = [name](const char* other) { return other != nullptr && std::strcmp(name, other) == 0; };
  return is(shown->first) || is(shown->second) ? std::getenv(name) : nullptr;
}

/// Why the values of these variables are refused when all others are not set; empty when they are not.
std::string refusal_of(shown_names shown) {
  environment_source source;
  source.lookup = look_up_shown;
  source.context = &shown;
  options ignored;
  const settings_result result = settings_from(source, ignored);
  return result.refused > 0 ? result.errors[0].text : std::string();
}

bool is_switch(const char* variable) {
  return std::strcmp(variable, switch_name) == 0 || std::strcmp(variable, older_switch_name) == 0;
}

setting_view view_of(const setting_row& row) {
  setting_view view{row.variable, row.unset, "default", row.meaning, {}};
  const char* given = std::getenv(row.variable);
  std::string source = "environment";
  if (given == nullptr && std::strcmp(row.variable, switch_name) == 0) {
    given = std::getenv(older_switch_name);
    source = std::string("environment, by ") + older_switch_name;
  }
  if (given == nullptr) return view;
  view.refusal = refusal_of({row.variable, nullptr});
  // Two names of one switch: each may be well on its own and both be refused together.
  if (view.refusal.empty() && is_switch(row.variable)) {
    const std::string other =
        refusal_of({row.variable == std::string(switch_name) ? older_switch_name : switch_name, nullptr});
    if (other.empty()) view.refusal = refusal_of({switch_name, older_switch_name});
  }
  if (view.refusal.empty()) {
    view.value = given;
    view.source = source;
  }
  return view;
}

}  // namespace

void settings_view::override_by_flag(const std::string& variable, const std::string& value) {
  for (setting_view& row : rows) {
    if (row.variable != variable) continue;
    row.value = value;
    row.source = "command line";
  }
}

settings_view read_settings() {
  settings_view view;
  const settings_result result = settings_from_environment(view.from_environment);
  for (std::size_t i = 0; i < result.refused; ++i) view.errors.emplace_back(result.errors[i].text);
  for (std::size_t i = 0; i < result.warned; ++i) view.warnings.emplace_back(result.warnings[i].text);
  std::size_t count = 0;
  const setting_row* rows = setting_rows(count);
  for (std::size_t i = 0; i < count; ++i) view.rows.push_back(view_of(rows[i]));
  return view;
}

void require_settings(const settings_view& settings) {
  for (const std::string& warning : settings.warnings) print_error("warning: " + warning);
  if (settings.errors.empty()) return;
  for (std::size_t i = 0; i + 1 < settings.errors.size(); ++i) print_error(settings.errors[i]);
  throw command_failure{exit_status::bad_usage, settings.errors.back()};
}

}  // namespace arcalloc::cli
