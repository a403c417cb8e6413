// SPDX-License-Identifier: Apache-2.0
// Fuzzing the settings: the input is an environment. Each value is judged here a second time, by the rules of
// docs/settings.md as they are written there: what is refused leaves the default, what is taken arrives exactly, and
// no text but "0" ever widens the bound. Then an allocator is made of the result, and must have that bound.
#include <algorithm>
#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstring>
#include <optional>
#include <vector>

#include "environment_input.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t gib = 1 << 30;

/// The number that a text is, by comparing it with how that number is written.
std::optional<std::uint64_t> strict_number(const std::string& text, std::uint64_t least, std::uint64_t most) {
  if (text.empty() || text.size() > 10 || text.find_first_not_of("0123456789") != std::string::npos) return {};
  const std::uint64_t value = std::stoull(text);
  if (std::to_string(value) != text || value < least || value > most) return {};
  return value;
}

/// What the rules make of an environment.
class judge {
 public:
  judge(const environment_input& set, const options& found) : set_(set) {
    read_enabled();
    if (const std::string* const text = value_of("ARC_ALLOC_CACHE_MAX_MB")) read_bound(*text);
    if (const std::string* const text = value_of("ARC_ALLOC_CACHE_STATS")) {
      if (const auto steps = strict_number(*text, 0, 0xFFFFFFFF)) {
        expected.stats_every_steps = static_cast<std::uint32_t>(*steps);
      } else {
        ++refused;
      }
    }
    if (const std::string* const text = value_of("ARC_ALLOC_CACHE_GEOMETRY")) read_geometry(*text);
    if (const std::string* const text = value_of("ARC_ALLOC_CAPACITY_MB")) {
      if (const auto mebibytes = strict_number(*text, 1, 1 << 30)) {
        expected.capacity_bytes = *mebibytes * mib;
      } else {
        ++refused;
      }
    }
    for (const char* const name : {"ARC_ALLOC_CACHE_CAPTURE_MISS", "ARC_ALLOC_CACHE_PROFILE"}) {
      if (value_of(name) != nullptr) ++refused;  // texts that no input has
    }
    // Whether a file can be written is the host's to say.
    if (value_of("ARC_ALLOC_CACHE_TRACE") != nullptr && found.trace_path == nullptr) ++refused;
  }

  options expected;
  std::size_t refused = 0;

 private:
  const std::string* value_of(const char* name) const { return set_.value_of(name); }

  void read_enabled() {
    std::optional<std::uint64_t> values[2];
    const char* const names[] = {"ARC_ALLOC_CACHE", "ARC_CANDLE_ALLOC_CACHE"};
    for (int i = 0; i < 2; ++i) {
      const std::string* const text = value_of(names[i]);
      if (text == nullptr) continue;
      values[i] = strict_number(*text, 0, 1);
      if (!values[i]) ++refused;
    }
    if (values[0] && values[1] && *values[0] != *values[1]) {
      ++refused;  // one line for both
    } else if (values[0] || values[1]) {
      expected.enabled = (values[0] ? *values[0] : *values[1]) == 1;
    }
  }

  void read_bound(const std::string& text) {
    const auto mebibytes = strict_number(text, 0, 1 << 30);
    if (!mebibytes) {
      ++refused;
      return;
    }
    expected.cached_bytes_max.from_environment = true;
    expected.cached_bytes_max.mode = *mebibytes == 0 ? bound_mode::unbounded : bound_mode::explicit_bytes;
    expected.cached_bytes_max.bytes = *mebibytes * mib;
    expected.oom_retry = *mebibytes != 0;
  }

  void read_geometry(const std::string& text) {
    const std::pair<const char*, geometry> names[] = {{"1", geometry::classes_1},   {"2", geometry::classes_2},
                                                      {"4", geometry::classes_4},   {"8", geometry::classes_8},
                                                      {"16", geometry::classes_16}, {"exact", geometry::exact}};
    const auto* const found =
        std::find_if(std::begin(names), std::end(names), [&](const auto& one) { return text == one.first; });
    if (found == std::end(names)) {
      ++refused;
    } else {
      expected.classes = found->second;
    }
  }

  const environment_input& set_;
};

void judge_text(const setting_diagnostic& said) {
  const void* const end = std::memchr(said.text, 0, sizeof said.text);
  require(end != nullptr && end != said.text, "a diagnostic is a text");
  require(std::strchr(said.text, '\n') == nullptr, "a diagnostic is one line");
  require(std::strstr(said.text, "ARC_") != nullptr, "a diagnostic names a variable");
}

/// The bound of an allocator made of these settings is the one they say.
void judge_bound(options settings) {
  settings.trace_path = nullptr;  // nothing is written here
  sim_backend device;
  allocator* raw = nullptr;
  require(allocator::create(device, settings, raw) == status::ok, "settings that were read make an allocator");
  const allocator_ptr memory(raw);
  counters said;
  memory->read_counters(said);
  const cached_bound& bound = settings.cached_bytes_max;
  if (bound.mode == bound_mode::unbounded)
    return require(said.cap_source == ARCALLOC_CAP_UNBOUNDED, "unbounded says so");
  const bool derived = bound.mode == bound_mode::derived;
  require(said.cached_bytes_max == (derived ? gib : bound.bytes), "the bound is what the settings say");
  require(said.cap_source == (derived ? ARCALLOC_CAP_DERIVED : ARCALLOC_CAP_ENVIRONMENT), "and so is its source");
  require(said.capacity_bytes == (settings.capacity_bytes == 0 ? ARCALLOC_NO_BOUND : settings.capacity_bytes),
          "the capacity is what the settings say");
}

}  // namespace

int one_input(const std::uint8_t* bytes, std::size_t size) {
  input_bytes in(bytes, size);
  environment_input set(in);
  std::vector<std::string> entries;
  for (const auto& [name, value] : set.all()) entries.push_back(std::string(name).append("=").append(value));
  std::vector<const char*> names;
  for (const std::string& entry : entries) names.push_back(entry.c_str());
  names.push_back(nullptr);

  options found;
  const settings_result result = settings_from({environment_input::look_up, &set, names.data()}, found);
  const judge rules(set, found);
  require(result.refused == rules.refused, "as many values are refused as break a rule");
  require(result.outcome == (rules.refused == 0 ? status::ok : status::invalid_argument),
          "the status says whether any");
  for (std::size_t i = 0; i < result.refused; ++i) judge_text(result.errors[i]);
  require(result.warned <= settings_result::diagnostics_max, "warnings fit");
  for (std::size_t i = 0; i < result.warned; ++i) judge_text(result.warnings[i]);

  const options& expected = rules.expected;
  require(found.enabled == expected.enabled, "the switch is what the rules say");
  require(found.cached_bytes_max.mode == expected.cached_bytes_max.mode, "the bound's mode is what the rules say");
  require(found.cached_bytes_max.bytes == expected.cached_bytes_max.bytes, "the bound is what the rules say");
  require(found.oom_retry == expected.oom_retry, "only an unbounded cache does without the retry");
  require(found.capacity_bytes == expected.capacity_bytes, "the capacity is what the rules say");
  require(found.classes == expected.classes, "the geometry is what the rules say");
  require(found.stats_every_steps == expected.stats_every_steps, "the report's steps are what the rules say");
  require((found.sink.write != nullptr) == (found.stats_every_steps != 0), "a report has somewhere to go");
  judge_bound(found);
  return 0;
}

}  // namespace arcalloc::testing
