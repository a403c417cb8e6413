// SPDX-License-Identifier: Apache-2.0
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <arcalloc/profile.hpp>
#include <arcalloc/settings.hpp>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <iterator>

extern char** environ;

namespace arcalloc {

namespace {

constexpr std::uint64_t mebibytes_max = std::uint64_t{1} << 30;
constexpr std::uint64_t steps_max = 0xFFFFFFFF;

constexpr const char* name_cache = "ARC_ALLOC_CACHE";
constexpr const char* name_cache_older = "ARC_CANDLE_ALLOC_CACHE";
constexpr const char* name_max = "ARC_ALLOC_CACHE_MAX_MB";
constexpr const char* name_stats = "ARC_ALLOC_CACHE_STATS";
constexpr const char* name_geometry = "ARC_ALLOC_CACHE_GEOMETRY";
constexpr const char* name_capture_miss = "ARC_ALLOC_CACHE_CAPTURE_MISS";
constexpr const char* name_profile = "ARC_ALLOC_CACHE_PROFILE";
constexpr const char* name_trace = "ARC_ALLOC_CACHE_TRACE";
constexpr const char* name_capacity = "ARC_ALLOC_CAPACITY_MB";

constexpr setting_row rows[] = {
    {name_cache, "cache on or off", "1", "0 or 1", true},
    {name_cache_older, "older name of ARC_ALLOC_CACHE; both set and different: both refused", "not set", "0 or 1",
     true},
    {name_max, "cached max in MiB; 0 = unbounded and no retry, for A/B runs", "derived", "0 to 1073741824", true},
    {name_stats, "step report every N steps; 0 = never", "0", "0 to 4294967295", true},
    {name_geometry, "size classes per doubling", "8", "1, 2, 4, 8, 16 or exact", true},
    {name_capture_miss, "what a miss inside a capture does", "grow", "grow or refuse", true},
    {name_profile, "prewarm profile to load", "none", "a profile file", true},
    {name_trace, "file to record every request into", "none", "a file that can be written", true},
    {name_capacity, "capacity in MiB", "none", "1 to 1073741824", true},
};

/// Strict: decimal digits without a leading zero, at most `most`, nothing around them. The whole text
/// or nothing, so that "4Gi" is never 4.
bool parse_number(const char* text, std::uint64_t most, std::uint64_t& out) noexcept {
  if (text[0] == '\0' || (text[0] == '0' && text[1] != '\0')) return false;
  std::uint64_t value = 0;
  for (const char* at = text; *at != '\0'; ++at) {
    if (*at < '0' || *at > '9') return false;
    const auto digit = static_cast<std::uint64_t>(*at - '0');
    if (digit > most || value > (most - digit) / 10) return false;
    value = value * 10 + digit;
  }
  out = value;
  return true;
}

bool parse_geometry(const char* text, geometry& out) noexcept {
  for (const geometry value : {geometry::exact, geometry::classes_1, geometry::classes_2, geometry::classes_4,
                               geometry::classes_8, geometry::classes_16}) {
    if (std::strcmp(text, geometry_name(value)) != 0) continue;
    out = value;
    return true;
  }
  return false;
}

/// An ordinary file that may be written, or none in a directory that may be. Nothing is made or changed.
bool can_be_written(const char* path) noexcept {
  struct stat about {};
  if (::stat(path, &about) == 0) return S_ISREG(about.st_mode) && ::access(path, W_OK) == 0;
  if (errno != ENOENT) return false;
  char directory[4096];
  const char* const slash = std::strrchr(path, '/');
  const std::size_t length = slash != nullptr ? static_cast<std::size_t>(slash - path) + 1 : 0;
  if (path[0] == '\0' || length >= sizeof directory || (slash != nullptr && slash[1] == '\0')) return false;
  std::memcpy(directory, path, length);
  directory[length] = '\0';
  return ::access(length == 0 ? "." : directory, W_OK | X_OK) == 0;
}

/// Length up to the end of the name: at '=' or at the end of the string.
std::size_t name_length(const char* entry) noexcept { return std::strcspn(entry, "="); }

/// Levenshtein distance, capped by the length of the row: only used to suggest a name.
std::size_t distance(const char* known, const char* given, std::size_t given_length) noexcept {
  constexpr std::size_t longest = 63;
  const std::size_t columns = std::min(given_length, longest);
  std::size_t row[longest + 1];
  for (std::size_t i = 0; i <= columns; ++i) row[i] = i;
  for (std::size_t k = 0; known[k] != '\0'; ++k) {
    std::size_t diagonal = row[0];
    row[0] = k + 1;
    for (std::size_t i = 1; i <= columns; ++i) {
      const std::size_t above = row[i];
      const std::size_t changed = diagonal + (known[k] == given[i - 1] ? 0 : 1);
      row[i] = std::min({above + 1, row[i - 1] + 1, changed});
      diagonal = above;
    }
  }
  return row[columns];
}

/// Reads one environment into one options object, and keeps the diagnostics.
class reader {
 public:
  reader(const environment_source& source, options& out) noexcept : source_(source), out_(out) {}

  settings_result read() noexcept {
    read_enabled();
    read_bound();
    std::uint64_t number = 0;
    if (number_of(name_stats, 0, steps_max, number)) {
      out_.stats_every_steps = static_cast<std::uint32_t>(number);
      if (number != 0 && out_.sink.write == nullptr) out_.sink = stderr_sink();
    }
    if (const char* const text = value_of(name_geometry); text != nullptr && !parse_geometry(text, out_.classes)) {
      refuse(name_geometry, text);
    }
    if (number_of(name_capacity, 1, mebibytes_max, number)) out_.capacity_bytes = number << 20;
    read_capture_miss();
    read_profile_path();
    read_trace_path();
    for (const setting_row& row : rows) {
      if (row.available) continue;
      if (const char* const text = value_of(row.variable); text != nullptr) {
        error("%s=\"%.100s\" is refused: this version cannot do it yet", row.variable, text);
      }
    }
    warn_about_unknown_names();
    return result_;
  }

 private:
  const char* value_of(const char* name) const noexcept { return source_.lookup(source_.context, name); }

  template <class... Arguments>
  void error(const char* format, Arguments... arguments) noexcept {
    result_.outcome = status::invalid_argument;
    note(result_.errors, result_.refused, format, arguments...);
  }
  template <class... Arguments>
  void warn(const char* format, Arguments... arguments) noexcept {
    note(result_.warnings, result_.warned, format, arguments...);
  }
  template <class... Arguments>
  static void note(setting_diagnostic* notes, std::size_t& count, const char* format, Arguments... arguments) noexcept {
    if (count == settings_result::diagnostics_max) return;
    char* const text = notes[count++].text;
    std::snprintf(text, sizeof notes->text, format, arguments...);
    // One line whatever the environment holds: control characters become points.
    for (char* at = text; *at != '\0'; ++at) {
      if (static_cast<unsigned char>(*at) < ' ' || *at == '\x7f') *at = '.';
    }
  }

  void refuse(const char* name, const char* text) noexcept {
    for (const setting_row& row : rows) {
      if (row.variable == name) error("%s=\"%.100s\" is refused: it takes %s", name, text, row.values);
    }
  }

  /// True where the variable is set to a number in range.
  bool number_of(const char* name, std::uint64_t least, std::uint64_t most, std::uint64_t& out) noexcept {
    const char* const text = value_of(name);
    if (text == nullptr) return false;
    std::uint64_t value = 0;
    if (!parse_number(text, most, value) || value < least) {
      refuse(name, text);
      return false;
    }
    out = value;
    return true;
  }

  void read_enabled() noexcept {
    std::uint64_t value = 0;
    std::uint64_t older = 0;
    const bool has = number_of(name_cache, 0, 1, value);
    const bool has_older = number_of(name_cache_older, 0, 1, older);
    if (has && has_older && value != older) {
      error("%s=\"%.20s\" and %s=\"%.20s\" differ: both are refused", name_cache, value_of(name_cache),
            name_cache_older, value_of(name_cache_older));
      return;
    }
    if (has) out_.enabled = value == 1;
    if (has_older) out_.enabled = older == 1;
  }

  void read_bound() noexcept {
    std::uint64_t mebibytes = 0;
    if (!number_of(name_max, 0, mebibytes_max, mebibytes)) return;
    out_.cached_bytes_max.from_environment = true;
    if (mebibytes != 0) {
      out_.cached_bytes_max.mode = bound_mode::explicit_bytes;
      out_.cached_bytes_max.bytes = mebibytes << 20;
      return;
    }
    out_.cached_bytes_max.mode = bound_mode::unbounded;
    out_.oom_retry = false;
    warn("%s=0: the cache is UNBOUNDED and out-of-memory is not retried; this is for A/B runs only", name_max);
  }

  void read_capture_miss() noexcept {
    const char* const text = value_of(name_capture_miss);
    if (text == nullptr) return;
    if (std::strcmp(text, "grow") == 0) {
      out_.capture_miss = capture_policy::grow;
    } else if (std::strcmp(text, "refuse") == 0) {
      out_.capture_miss = capture_policy::refuse;
    } else {
      refuse(name_capture_miss, text);
    }
  }

  void read_profile_path() noexcept {
    const char* const text = value_of(name_profile);
    if (text == nullptr) return;
    profile looked_at;
    profile_error why;
    if (read_profile(text, looked_at, why) == status::ok) {
      out_.profile_path = text;
    } else {
      error("%s=\"%.100s\" is refused: %.180s", name_profile, text, why.text);
    }
  }

  void read_trace_path() noexcept {
    const char* const text = value_of(name_trace);
    if (text == nullptr) return;
    if (can_be_written(text)) {
      out_.trace_path = text;
    } else {
      refuse(name_trace, text);
    }
  }

  void warn_about_unknown_names() noexcept {
    if (source_.names == nullptr) return;
    for (const char* const* entry = source_.names; *entry != nullptr; ++entry) {
      if (std::strncmp(*entry, "ARC_ALLOC_", std::strlen("ARC_ALLOC_")) != 0) continue;
      const std::size_t length = name_length(*entry);
      const setting_row* nearest = &rows[0];
      std::size_t nearest_distance = SIZE_MAX;
      for (const setting_row& row : rows) {
        const std::size_t away = distance(row.variable, *entry, length);
        if (away < nearest_distance) nearest = &row;
        nearest_distance = std::min(nearest_distance, away);
      }
      if (length == std::strlen(nearest->variable) && nearest_distance == 0) continue;
      warn("%.*s is not a setting of arcalloc; did you mean %s?", static_cast<int>(std::min<std::size_t>(length, 100)),
           *entry, nearest->variable);
    }
  }

  const environment_source& source_;
  options& out_;
  settings_result result_{};
};

const char* process_lookup(void*, const char* name) noexcept {
  const std::size_t length = std::strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (std::strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return *entry + length + 1;
  }
  return nullptr;
}

void write_to_stderr(void*, const char* line) noexcept { std::fprintf(stderr, "%s\n", line); }

}  // namespace

const setting_row* setting_rows(std::size_t& count) noexcept {
  count = std::size(rows);
  return rows;
}

settings_result settings_from(const environment_source& source, options& out) noexcept {
  return reader(source, out).read();
}

settings_result settings_from_environment(options& out) noexcept {
  return settings_from({process_lookup, nullptr, environ}, out);
}

text_sink stderr_sink() noexcept { return {write_to_stderr, nullptr}; }

}  // namespace arcalloc
