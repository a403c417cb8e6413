// SPDX-License-Identifier: Apache-2.0
// Fuzzing the scenario language: the input is the text of a scenario. Refused, it is refused with one line that names
// a place in the text; parsed, it is run, if it is not too long. What a scenario claims may be wrong, but whatever it
// does, the device convicts nobody, the identities hold, everything is given back at the end, and a second run comes to
// the same.
#include <algorithm>
#include <iterator>
#include <string_view>

#include "one_input.hpp"
#include "trace/scenario_run.hpp"
#include "trace/scenario_text.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::size_t operations_max = 300;

/// FILE:LINE:COLUMN: what. The place is in the text, or right behind it.
void judge_refusal(const std::string& message, std::string_view text) {
  require(message.find('\n') == std::string::npos, "a refusal is one line");
  constexpr std::string_view file = "input:";
  require(message.starts_with(file), "a refusal names its file");
  std::size_t after = 0;
  const std::string place = message.substr(file.size());
  require(!place.empty() && place.front() >= '1' && place.front() <= '9', "a refusal names its line");
  const std::uint64_t line = std::stoull(place, &after);
  const auto ends = static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n'));
  require(line <= ends + 1, "a refusal names a line of the text");
  require(after < place.size() && place[after] == ':', "a refusal names its column");
  const std::string behind = place.substr(after + 1);
  require(!behind.empty() && behind.front() >= '1' && behind.front() <= '9', "a refusal names its column");
  require(std::stoull(behind, &after) <= text.size() + 1, "a refusal names a column of the text");
  require(behind.size() > after + 2 && behind[after] == ':', "a refusal says what is wrong");
}

/// What the runner checks besides the lines' own claims: no text may break it.
bool is_never_the_texts_fault(const trace::scenario_failure& failure) {
  constexpr std::string_view ours[] = {"no conviction by the device",
                                       "reserved = ",
                                       "requests = ",
                                       "driver_allocs - driver_frees = ",
                                       "cached_bytes <= cached_bytes_max",
                                       "reserved_bytes <= capacity_bytes"};
  // A claim that is written so carries a number behind it; at the end there are no lines.
  return failure.line == 0 || std::any_of(std::begin(ours), std::end(ours), [&](std::string_view one) {
           return one.ends_with(' ') ? failure.expected.starts_with(one) : failure.expected == one;
         });
}

void judge_runs(const trace::scenario& what) {
  const trace::scenario_result first = trace::run_scenario(what);
  for (const trace::scenario_failure& failure : first.failed) {
    if (!is_never_the_texts_fault(failure)) continue;
    convict("line " + std::to_string(failure.line) + ": expected " + failure.expected + ", found " + failure.found);
  }
  const trace::scenario_result second = trace::run_scenario(what);
  require(first.device_ns == second.device_ns && first.failed.size() == second.failed.size(),
          "two runs of one scenario are one");
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  for (std::size_t i = 0; i < count; ++i) {
    require(first.last.*fields[i].value == second.last.*fields[i].value, "two runs of one scenario count the same");
  }
}

}  // namespace

int one_input(const std::uint8_t* bytes, std::size_t size) {
  const std::string text(bytes, bytes + size);
  trace::scenario what;
  try {
    what = trace::parse_scenario("input", text);
  } catch (const trace::scenario_error& refused) {
    judge_refusal(refused.message, text);
    return 0;
  }
  if (what.operations.size() <= operations_max) judge_runs(what);
  return 0;
}

}  // namespace arcalloc::testing
