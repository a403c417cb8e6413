// SPDX-License-Identifier: Apache-2.0
// The fuzzers' own test: a subject with a flaw planted, which must be found from nothing within the time that every
// subject gets. The input is an environment; the flaw unbinds the cache where it holds two variables, and the library
// takes the values of both. Of blind bytes one input in some 2^40 is such an environment: whoever finds it was led
// there, one variable after the other, by which lines were reached and how often. So it fails where the library is not
// instrumented.
#include <vector>

#include "environment_input.hpp"

namespace arcalloc::testing {

namespace {

/// One variable of an environment, alone.
struct one_variable {
  const char* name;
  const char* value;
  static const char* look_up(void* context, const char* name) noexcept {
    const auto& set = *static_cast<const one_variable*>(context);
    return std::string(name) == set.name ? set.value : nullptr;
  }
};

/// Reads the variables one by one, and does wrong at the second.
options flawed_reading(const environment_input& set) {
  std::size_t count = 0;
  const setting_row* const rows = setting_rows(count);
  options read;
  std::vector<const char*> taken;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string* const value = set.value_of(rows[i].variable);
    if (value == nullptr) continue;
    one_variable alone{rows[i].variable, value->c_str()};
    if (settings_from({one_variable::look_up, &alone, nullptr}, read).outcome == status::ok) {
      taken.push_back(rows[i].variable);
    }
  }
  if (taken.size() >= 2) read.cached_bytes_max.mode = bound_mode::unbounded;
  return read;
}

}  // namespace

int one_input(const std::uint8_t* bytes, std::size_t size) {
  input_bytes in(bytes, size);
  const environment_input set(in);
  const options read = flawed_reading(set);
  const std::string* const bound = set.value_of("ARC_ALLOC_CACHE_MAX_MB");
  const bool is_asked_for = bound != nullptr && *bound == "0";
  require(is_asked_for || read.cached_bytes_max.mode != bound_mode::unbounded, "the canary: unbounded without a 0");
  return 0;
}

}  // namespace arcalloc::testing
