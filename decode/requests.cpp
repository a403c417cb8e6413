// SPDX-License-Identifier: Apache-2.0
#include "decode/requests.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>

#include "decode/input_error.hpp"

namespace arcalloc::decode {

namespace {

constexpr std::string_view header = "TIMESTAMP,ContextTokens,GeneratedTokens";
constexpr std::uint64_t length_most = 10'000'000;
constexpr std::int64_t second_ns = 1'000'000'000;
constexpr std::int64_t span_most_ns = 366 * 86'400 * second_ns;

/// Seconds of some epoch, and the rest.
struct moment {
  std::int64_t seconds = 0;
  std::int64_t ns = 0;
};

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// Days from 1 March of the year 0, of a date in the Gregorian calendar: the days of the months before, where the year
/// begins in March, are (153 m + 2) / 5.
std::uint64_t days_of(std::uint64_t year, std::uint64_t month, std::uint64_t day) {
  const std::uint64_t from_march = (month + 9) % 12;
  const std::uint64_t years = month <= 2 ? year - 1 : year;
  return 365 * years + years / 4 - years / 100 + years / 400 + (153 * from_march + 2) / 5 + day;
}

/// `.ddd` with one to nine decimals, or nothing.
std::optional<std::int64_t> nanoseconds_in(std::string_view text) {
  if (text.empty()) return 0;
  const std::string_view digits = text.substr(1);
  const auto value = number_in(digits);
  if (text[0] != '.' || !value || digits.size() > 9) return std::nullopt;
  auto ns = static_cast<std::int64_t>(*value);
  for (std::size_t i = digits.size(); i < 9; ++i) ns *= 10;
  return ns;
}

/// `YYYY-MM-DD hh:mm:ss` with any decimals.
std::optional<moment> moment_in(std::string_view text) {
  if (text.size() < 19 || text[4] != '-' || text[7] != '-' || text[10] != ' ' || text[13] != ':' || text[16] != ':') {
    return std::nullopt;
  }
  std::array<std::uint64_t, 6> parts{};
  constexpr std::array<std::pair<std::size_t, std::size_t>, 6> places{
      {{0, 4}, {5, 2}, {8, 2}, {11, 2}, {14, 2}, {17, 2}}};
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const auto value = number_in(text.substr(places[i].first, places[i].second));
    if (!value) return std::nullopt;
    parts[i] = *value;
  }
  const auto [year, month, day, hour, minute, second] = parts;
  if (year == 0 || month == 0 || month > 12 || day == 0 || day > 31 || hour > 23 || minute > 59 || second > 60) {
    return std::nullopt;
  }
  const auto ns = nanoseconds_in(text.substr(19));
  if (!ns) return std::nullopt;
  return moment{static_cast<std::int64_t>(days_of(year, month, day) * 86'400 + 3600 * hour + 60 * minute + second),
                *ns};
}

std::optional<std::uint64_t> length_in(std::string_view text) {
  const auto value = number_in(text);
  return value && *value >= 1 && *value <= length_most ? value : std::nullopt;
}

/// A file that is being read, and where in it.
struct reading {
  std::string path;
  std::ifstream file;
  std::size_t number = 0;
  std::string line;

  [[noreturn]] void refuse(const std::string& why) const {
    throw input_error{path + ":" + std::to_string(number) + ": " + why};
  }
  bool next() {
    ++number;
    if (!std::getline(file, line)) return false;
    if (!line.empty() && line.back() == '\r') line.pop_back();
    return true;
  }
};

/// The row, with its arrival after `first`, which the first row sets.
served_request request_in(const reading& from, std::optional<moment>& first) {
  const std::string_view row = from.line;
  if (std::count(row.begin(), row.end(), ',') != 2) from.refuse("a row has three columns");
  const std::size_t comma = row.find(',');
  const std::size_t second = row.find(',', comma + 1);
  const auto time = moment_in(row.substr(0, comma));
  if (!time) from.refuse("the time is not like 2023-11-16 18:15:46.6805900");
  const auto prompt = length_in(row.substr(comma + 1, second - comma - 1));
  const auto answer = length_in(row.substr(second + 1));
  if (!prompt || !answer) from.refuse("a length is no whole number from 1 to " + std::to_string(length_most));
  if (!first) first = time;
  std::int64_t after = 0;
  const bool far = __builtin_mul_overflow(time->seconds - first->seconds, second_ns, &after) ||
                   __builtin_add_overflow(after, time->ns - first->ns, &after) || after > span_most_ns;
  if (far) from.refuse("the request came more than a year from the first");
  if (after < 0) from.refuse("the request came before the one above");
  return {static_cast<std::uint64_t>(after), *prompt, *answer};
}

}  // namespace

std::vector<served_request> read_requests(const std::string& path) {
  reading from{path, std::ifstream(path), 0, {}};
  if (!from.file) throw input_error{path + ": cannot be read"};
  if (!from.next() || from.line != header) {
    from.number = 1;
    from.refuse("the header is not " + std::string(header));
  }
  std::vector<served_request> all;
  std::optional<moment> first;
  while (from.next()) {
    const served_request read = request_in(from, first);
    if (!all.empty() && read.arrival_ns < all.back().arrival_ns) from.refuse("the request came before the one above");
    all.push_back(read);
  }
  if (from.file.bad()) throw input_error{path + ": cannot be read"};
  if (all.empty()) throw input_error{path + ": there is no request in it"};
  return all;
}

}  // namespace arcalloc::decode
