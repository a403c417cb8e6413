// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/settings.hpp>
#include <map>
#include <string>

#include "one_input.hpp"

namespace arcalloc::testing {

/// An environment that exists in an input alone: entries `NAME=VALUE`, each ended by a zero byte. An entry that begins
/// with a byte below 16 has the variable of that row of the table as its name, so that values are reached at once. Of
/// two entries for one name the first counts.
class environment_input {
 public:
  explicit environment_input(input_bytes& in) {
    std::size_t count = 0;
    const setting_row* const rows = setting_rows(count);
    while (in.any()) {
      std::string entry = in.text();
      if (entry.empty()) continue;
      if (const auto row = static_cast<unsigned char>(entry.front()); row < 16) {
        entry = std::string(rows[row % count].variable).append("=").append(entry.substr(1));
      }
      const std::size_t sign = entry.find('=');
      if (sign != std::string::npos) set_.try_emplace(entry.substr(0, sign), entry.substr(sign + 1));
    }
  }

  /// Null where the variable is not set.
  [[nodiscard]] const std::string* value_of(const char* name) const {
    const auto found = set_.find(name);
    return found == set_.end() ? nullptr : &found->second;
  }
  [[nodiscard]] const std::map<std::string, std::string>& all() const { return set_; }

  /// As environment_source wants it; `context` is an environment_input.
  static const char* look_up(void* context, const char* name) noexcept {
    const std::string* const value = static_cast<const environment_input*>(context)->value_of(name);
    return value == nullptr ? nullptr : value->c_str();
  }

 private:
  std::map<std::string, std::string> set_;
};

}  // namespace arcalloc::testing
