// SPDX-License-Identifier: Apache-2.0
// The profile file: a small, fixed piece of JSON, read strictly and written whole.
#include <arcalloc/allocator.hpp>
#include <arcalloc/profile.hpp>
#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace arcalloc {

namespace {

constexpr const char* schema = "arcalloc.profile/1";
constexpr std::size_t file_bytes_max = std::size_t{4} << 20;
constexpr std::size_t entries_max = 16384;

template <class... Arguments>
void say(profile_error& error, const char* format, Arguments... arguments) noexcept {
  std::snprintf(error.text, sizeof error.text, format, arguments...);
}

/// Reads one profile out of a text. Every function is true when it found what it is named for; the first that is
/// not leaves the reason.
class profile_reader {
 public:
  profile_reader(const char* path, const char* text, profile_error& error) noexcept
      : path_(path), at_(text), error_(error) {}

  bool read(profile& out) noexcept {
    bool has_schema = false;
    bool has_entries = false;
    const bool read = object([&](const char* key) {
      if (std::strcmp(key, "schema") == 0) return once(has_schema, key) && read_schema();
      if (std::strcmp(key, "entries") == 0) return once(has_entries, key) && read_entries(out);
      return refuse_key(key);
    });
    if (!read) return false;
    if (!has_schema || !has_entries) return refuse(has_schema ? "there is no \"entries\"" : "there is no \"schema\"");
    skip_space();
    return *at_ == '\0' || refuse("something follows the profile");
  }

  [[nodiscard]] bool host_is_full() const noexcept { return host_is_full_; }

 private:
  bool refuse(const char* why) noexcept {
    say(error_, "%.300s:%" PRIu64 ": %s", path_, line_, why);
    return false;
  }
  bool refuse_key(const char* key) noexcept {
    say(error_, "%.300s:%" PRIu64 ": unknown key \"%.64s\"", path_, line_, key);
    return false;
  }
  bool once(bool& seen, const char* key) noexcept {
    if (seen) {
      say(error_, "%.300s:%" PRIu64 ": the key \"%.64s\" is there twice", path_, line_, key);
      return false;
    }
    return seen = true;
  }

  void skip_space() noexcept {
    for (; *at_ == ' ' || *at_ == '\t' || *at_ == '\r' || *at_ == '\n'; ++at_) line_ += *at_ == '\n' ? 1 : 0;
  }

  bool next(char wanted) noexcept {
    skip_space();
    if (*at_ != wanted) {
      char why[64];
      std::snprintf(why, sizeof why, *at_ == '\0' ? "the file ends where '%c' belongs" : "'%c' belongs here", wanted);
      return refuse(why);
    }
    ++at_;
    return true;
  }

  bool string(char (&out)[64]) noexcept {
    if (!next('"')) return false;
    const std::size_t length = std::strcspn(at_, "\"\\\n");
    if (at_[length] != '"') return refuse("a string without its end, or with an escape");
    if (length >= sizeof out) return refuse("a string longer than any that belongs here");
    std::memcpy(out, at_, length);
    out[length] = '\0';
    at_ += length + 1;
    return true;
  }

  bool number(std::uint64_t& out) noexcept {
    skip_space();
    const std::size_t length = std::strspn(at_, "0123456789");
    const char after = at_[length];
    if (length == 0 || (after != '\0' && std::strchr(".eE+-", after) != nullptr)) {
      return refuse("a number in decimal digits belongs here");
    }
    if (length > 1 && *at_ == '0') return refuse("a number begins with 0");
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const auto digit = static_cast<std::uint64_t>(at_[i] - '0');
      if (value > (UINT64_MAX - digit) / 10) return refuse("a number above 2^64 - 1");
      value = value * 10 + digit;
    }
    at_ += length;
    out = value;
    return true;
  }

  /// `member(key)` reads the value of each key.
  template <class Member>
  bool object(Member member) noexcept {
    if (!next('{')) return false;
    skip_space();
    for (bool first = true; *at_ != '}' || !first; first = false) {
      char key[64];
      if (!string(key) || !next(':') || !member(key)) return false;
      skip_space();
      if (*at_ == '}') break;
      if (!next(',')) return false;
    }
    return next('}');
  }

  bool read_schema() noexcept {
    char value[64];
    if (!string(value)) return false;
    if (std::strcmp(value, schema) == 0) return true;
    say(error_, "%.300s:%" PRIu64 ": the schema is \"%.64s\"; this version reads \"%s\"", path_, line_, value, schema);
    return false;
  }

  bool read_entry(profile& out) noexcept {
    profile_entry entry;
    std::uint64_t on = 0;
    bool seen[3] = {};
    const auto member = [&](const char* key) {
      if (std::strcmp(key, "stream") == 0) return once(seen[0], key) && number(on);
      if (std::strcmp(key, "bytes") == 0) return once(seen[1], key) && number(entry.bytes);
      if (std::strcmp(key, "blocks") == 0) return once(seen[2], key) && number(entry.blocks);
      return refuse_key(key);
    };
    if (!object(member)) return false;
    if (!seen[0] || !seen[1] || !seen[2]) return refuse("an entry needs \"stream\", \"bytes\" and \"blocks\"");
    if (entry.bytes == 0 || entry.bytes > request_bytes_max) return refuse("\"bytes\" is not from 1 to 2^47");
    if (entry.blocks == 0) return refuse("\"blocks\" is 0");
    entry.on = stream{on};
    if (out.entries().size() == entries_max) return refuse("more than 16384 entries");
    if (out.add(entry)) return true;
    host_is_full_ = true;
    return refuse("the host has no memory for it");
  }

  bool read_entries(profile& out) noexcept {
    if (!next('[')) return false;
    skip_space();
    if (*at_ == ']') return next(']');
    do {
      if (!read_entry(out)) return false;
      skip_space();
    } while (*at_ == ',' && next(','));
    return next(']');
  }

  const char* path_;
  const char* at_;
  profile_error& error_;
  std::uint64_t line_ = 1;
  bool host_is_full_ = false;
};

/// The file as text in memory from malloc, or null with the reason.
char* text_of(const char* path, profile_error& error, status& outcome) noexcept {
  outcome = status::invalid_argument;
  std::FILE* const file = std::fopen(path, "rbe");
  if (file == nullptr) {
    say(error, "%.300s: cannot be opened", path);
    return nullptr;
  }
  char* const text = static_cast<char*>(std::malloc(file_bytes_max + 2));
  const std::size_t length = text == nullptr ? 0 : std::fread(text, 1, file_bytes_max + 1, file);
  const bool failed = std::ferror(file) != 0;
  std::fclose(file);
  if (text == nullptr) {
    outcome = status::backend_failed;
    say(error, "%.300s: the host has no memory to read it", path);
    return nullptr;
  }
  text[length] = '\0';
  if (failed) {
    say(error, "%.300s: cannot be read", path);
  } else if (length > file_bytes_max) {
    say(error, "%.300s: larger than 4 MiB, which no profile is", path);
  } else if (std::strlen(text) != length) {
    say(error, "%.300s: holds a byte 0, so it is no text", path);
  } else {
    return text;
  }
  std::free(text);
  return nullptr;
}

}  // namespace

status read_profile(const char* path, profile& out, profile_error& error) noexcept {
  error.text[0] = '\0';
  status outcome = status::ok;
  char* const text = text_of(path, error, outcome);
  if (text == nullptr) return outcome;
  profile fresh;
  profile_reader reader(path, text, error);
  const bool read = reader.read(fresh);
  std::free(text);
  if (!read) return reader.host_is_full() ? status::backend_failed : status::invalid_argument;
  out = static_cast<profile&&>(fresh);
  return status::ok;
}

status write_profile(const char* path, const profile& from, profile_error& error) noexcept {
  error.text[0] = '\0';
  char beside[4096];
  if (std::snprintf(beside, sizeof beside, "%s.new", path) >= static_cast<int>(sizeof beside)) {
    say(error, "%.300s: the name is too long", path);
    return status::backend_failed;
  }
  std::FILE* const file = std::fopen(beside, "wbe");
  if (file == nullptr) {
    say(error, "%.300s: cannot be written", beside);
    return status::backend_failed;
  }
  std::fprintf(file, "{\n  \"schema\": \"%s\",\n  \"entries\": [", schema);
  const char* before = "\n";
  for (const profile_entry& entry : from.entries()) {
    std::fprintf(file, "%s    {\"stream\": %" PRIu64 ", \"bytes\": %" PRIu64 ", \"blocks\": %" PRIu64 "}", before,
                 static_cast<std::uint64_t>(entry.on), entry.bytes, entry.blocks);
    before = ",\n";
  }
  std::fprintf(file, "%s]\n}\n", from.empty() ? "" : "\n  ");
  const bool written = std::ferror(file) == 0;
  if (std::fclose(file) == 0 && written && std::rename(beside, path) == 0) return status::ok;
  std::remove(beside);
  say(error, "%.300s: cannot be written", path);
  return status::backend_failed;
}

}  // namespace arcalloc
