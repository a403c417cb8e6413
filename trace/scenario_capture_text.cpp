// SPDX-License-Identifier: Apache-2.0
// The lines of a scenario that are about captures, graphs, and what is prewarmed for them.
#include <algorithm>
#include <limits>

#include "trace/scenario_parser.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

constexpr const char* a_graph = "the name of a graph";
constexpr const char* a_profile = "the name of a profile";
constexpr const char* a_count = "a number of blocks, as in x2";

}  // namespace

/// A stream on which a capture began or, where the line expects to be refused, any.
stream parser::take_capturing(word_cursor& words) {
  const stream on = take_stream(words);
  const auto found = captures_.find(on);
  if (expected_ != status::ok || (found != captures_.end() && found->second.begun_on == on)) return on;
  words.refuse_last("a stream on which a capture began");
}

/// A graph that is there or, where the line expects to be refused, any name.
std::string parser::take_graph(word_cursor& words) {
  std::string graph = words.name(a_graph);
  const auto found = graphs_.find(graph);
  if (expected_ != status::ok || (found != graphs_.end() && found->second.live)) return graph;
  words.refuse_last("a graph that was captured (" + graph +
                    (found == graphs_.end()
                         ? std::string(" was not)")
                         : " was released in line " + std::to_string(found->second.since_line) + ")"));
}

/// A profile that was recorded, to its end.
std::string parser::take_profile(word_cursor& words) {
  words.keyword("profile");
  std::string profile = words.name(a_profile);
  const auto found = profiles_.find(profile);
  if (found == profiles_.end() || found->second == 0) {
    words.refuse_last("a profile that was recorded (" + profile +
                      (found == profiles_.end() ? " was not)" : " has not ended)"));
  }
  return profile;
}

std::uint64_t parser::take_count(word_cursor& words) {
  std::string_view text = words.word(a_count).text;
  const bool is_marked = text.starts_with('x');
  if (is_marked) text.remove_prefix(1);
  const auto count = count_from(text, std::numeric_limits<std::uint32_t>::max());
  if (!is_marked || !count || *count == 0) words.refuse_last(a_count);
  return *count;
}

void parser::read_capture(word_cursor& words) {
  constexpr const char* what = "begin, end or abort";
  const scenario_word& word = words.word(what);
  if (word.is("begin")) return read_capture_begin(words);
  if (word.is("end")) return read_capture_end(words);
  if (!word.is("abort")) words.refuse_last(what);
  const stream on = take_capturing(words);
  if (expected_ == status::ok) std::erase_if(captures_, [on](const auto& one) { return one.second.begun_on == on; });
  add(words, act::abort_capture{on});
}

void parser::read_capture_begin(word_cursor& words) {
  act::begin_capture asked;
  asked.on = take_stream(words);
  const auto open = captures_.find(asked.on);
  if (expected_ == status::ok && open != captures_.end()) {
    words.refuse_last("a stream in no capture (the one it is in began in line " +
                      std::to_string(open->second.since_line) + ")");
  }
  while (!words.at_end()) {
    const assignment one = words.key_and_value("pool=NAME or policy=grow");
    const std::string& value = one.value.text;
    if (one.key == "pool") {
      if (!is_name(value)) words.refuse_at(one.value.column, "expected the name of a group, found " + word_text(value));
      asked.how.group = pool_group{groups_.try_emplace(value, groups_.size() + 1).first->second};
    } else if (one.key == "policy") {
      if (value != "grow" && value != "refuse") {
        words.refuse_at(one.value.column, "expected grow or refuse, found " + word_text(value));
      }
      asked.how.policy = value == "grow" ? capture_policy::grow : capture_policy::refuse;
    } else {
      words.refuse_at(one.column, "expected pool or policy, found " + word_text(one.key));
    }
  }
  if (expected_ == status::ok) captures_[asked.on] = {asked.on, words.line()};
  add(words, asked);
}

void parser::read_capture_end(word_cursor& words) {
  const stream on = take_capturing(words);
  std::string graph = words.name(a_graph);
  const known_name before = graphs_[graph];
  if (before.live) {
    words.refuse_last("a name without a graph (" + graph + " has one since line " + std::to_string(before.since_line) +
                      ")");
  }
  if (expected_ == status::ok) {
    graphs_[graph] = {true, words.line()};
    std::erase_if(captures_, [on](const auto& one) { return one.second.begun_on == on; });
  } else if (before.since_line == 0) {
    graphs_.erase(graph);
  }
  add(words, act::end_capture{on, std::move(graph)});
}

void parser::read_graph(word_cursor& words) {
  const scenario_word& word = words.word("replay or release");
  if (word.is("replay")) {
    std::string graph = take_graph(words);
    return add(words, act::replay_graph{std::move(graph), take_optional_stream(words).value_or(default_stream)});
  }
  if (!word.is("release")) words.refuse_last("replay or release");
  std::string graph = take_graph(words);
  if (expected_ == status::ok) graphs_[graph] = {false, words.line()};
  add(words, act::release_graph{std::move(graph)});
}

void parser::read_prewarm(word_cursor& words) {
  if (words.next_is("profile")) return add(words, act::prewarm_profile{take_profile(words)});
  act::prewarm_blocks asked;
  asked.bytes = words.size("profile, or a size: a whole number, then nothing, KiB, MiB or GiB");
  if (!words.at_end() && !words.next_is_stream()) asked.blocks = take_count(words);
  asked.on = take_optional_stream(words).value_or(default_stream);
  add(words, asked);
}

void parser::read_record(word_cursor& words) {
  const auto open = std::find_if(profiles_.begin(), profiles_.end(), [](const auto& one) { return one.second == 0; });
  if (expected_ == status::ok && open != profiles_.end()) {
    words.refuse_next("the end of profile " + open->first + ", which is being recorded");
  }
  words.keyword("profile");
  std::string profile = words.name(a_profile);
  if (profiles_.contains(profile)) words.refuse_last("a name without a profile");
  if (expected_ == status::ok) profiles_[profile] = 0;
  add(words, act::begin_profile{std::move(profile)});
}

void parser::read_end(word_cursor& words) {
  words.keyword("profile");
  std::string profile = words.name(a_profile);
  const auto found = profiles_.find(profile);
  const bool is_open = found != profiles_.end() && found->second == 0;
  if (expected_ == status::ok && !is_open) words.refuse_last("the profile that is being recorded");
  if (expected_ == status::ok) found->second = words.line();
  add(words, act::end_profile{std::move(profile)});
}

void parser::read_verify(word_cursor& words) { add(words, act::verify_profile{take_profile(words)}); }

void parser::read_expect_miss(word_cursor& words) {
  words.keyword("miss");
  act::expect_miss claim;
  claim.bytes = words.size(a_size);
  claim.count = take_count(words);
  claim.claim.append("miss ").append(std::to_string(claim.bytes)).append(" x").append(std::to_string(claim.count));
  claim.on = take_optional_stream(words).value_or(default_stream);
  add(words, std::move(claim));
}

}  // namespace arcalloc::trace
