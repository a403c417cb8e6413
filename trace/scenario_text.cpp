// SPDX-License-Identifier: Apache-2.0
#include "trace/scenario_text.hpp"

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <iterator>
#include <limits>
#include <system_error>
#include <utility>

#include "trace/scenario_parser.hpp"
#include "trace/size_text.hpp"

namespace arcalloc::trace {

namespace {

constexpr std::uint64_t file_bytes_max = std::uint64_t{64} << 20;
constexpr const char* comparisons[] = {"==", "<=", ">=", "<", ">"};

}  // namespace

const parser::verb parser::verbs[] = {
    {"device", &parser::read_device, false, false},  {"option", &parser::read_option, false, true},
    {"env", &parser::read_environment, true, true},  {"alloc", &parser::read_allocate, true, false},
    {"use", &parser::read_use, true, false},         {"free", &parser::read_free, true, false},
    {"busy", &parser::read_busy, false, false},      {"finish", &parser::read_finish, false, false},
    {"wait", &parser::read_wait, true, false},       {"stream", &parser::read_stream, true, false},
    {"step", &parser::read_step, false, false},      {"phase", &parser::read_phase, true, false},
    {"trim", &parser::read_trim, true, false},       {"drain", &parser::read_drain, true, false},
    {"capture", &parser::read_capture, true, false}, {"graph", &parser::read_graph, true, false},
    {"prewarm", &parser::read_prewarm, true, false}, {"record", &parser::read_record, true, false},
    {"end", &parser::read_end, true, false},         {"verify", &parser::read_verify, true, false},
    {"fault", &parser::read_fault, false, false},    {"expect", &parser::read_expect, false, false},
    {"same", &parser::read_same, false, false},      {"differ", &parser::read_differ, false, false},
};

void parser::read(const scenario_line& line) {
  word_cursor words(made_.file, line);
  const scenario_word& first = line.words.front();
  const auto* const found =
      std::find_if(std::begin(verbs), std::end(verbs), [&](const verb& one) { return first.is(one.name); });
  if (found == std::end(verbs)) words.refuse_next("an operation");
  if (found->is_setting && !made_.operations.empty()) {
    words.refuse_at(first.column, "expected an operation, found " + word_text(first.text) +
                                      ", which must precede the first operation");
  }
  expected_ = words.take_expected_status();
  words.keyword(found->name);
  (this->*found->read)(words);
  words.end();
  if (expected_ != status::ok && !found->has_status) {
    words.refuse_at(line.words.back().column, "expected ok, found " + word_text(line.words.back().text) + ": " +
                                                  word_text(first.text) + " always is");
  }
}

scenario parser::finish(std::uint64_t lines) {
  if (made_.operations.empty() && made_.environment.empty()) {
    refuse_scenario(made_.file, {lines, 1}, "expected an operation, found the end of the file");
  }
  return std::move(made_);
}

/// The ID of a block that is live or, where the line expects to be refused, of any.
std::string parser::take_used_id(word_cursor& words) {
  std::string id = words.name(an_id);
  const auto found = blocks_.find(id);
  if (expected_ != status::ok || (found != blocks_.end() && found->second.live)) return id;
  words.refuse_last("the ID of a live block (" + id +
                    (found == blocks_.end() ? std::string(" has none yet)")
                                            : " was freed in line " + std::to_string(found->second.since_line) + ")"));
}

void parser::read_allocate(word_cursor& words) {
  std::string id = words.name(an_id);
  const known_name before = blocks_[id];
  if (before.live) {
    words.refuse_last("an ID without a live block (" + id + " has one since line " + std::to_string(before.since_line) +
                      ")");
  }
  const std::uint64_t bytes = words.size(a_size);
  const stream on = take_optional_stream(words).value_or(default_stream);
  if (expected_ == status::ok) blocks_[id] = {true, words.line()};
  if (expected_ != status::ok && before.since_line == 0) blocks_.erase(id);
  add(words, act::allocate{std::move(id), bytes, on});
}

void parser::read_use(word_cursor& words) {
  std::string id = take_used_id(words);
  add(words, act::use{std::move(id), take_optional_stream(words)});
}

void parser::read_free(word_cursor& words) {
  std::string id = take_used_id(words);
  act::deallocate asked;
  asked.on = take_optional_stream(words);
  if (!asked.on && !words.at_end()) asked.bytes = words.size("a stream, or the block's size");
  if (expected_ == status::ok) blocks_[id] = {false, words.line()};
  asked.id = std::move(id);
  add(words, std::move(asked));
}

void parser::read_wait(word_cursor& words) {
  const stream later = take_stream(words);
  const stream earlier = take_stream(words);
  const auto capture = captures_.find(earlier);
  if (expected_ == status::ok && capture != captures_.end()) captures_.try_emplace(later, capture->second);
  add(words, act::wait{later, earlier});
}

void parser::read_stream(word_cursor& words) {
  words.keyword("end");
  add(words, act::end_stream{take_stream(words)});
}

void parser::read_step(word_cursor& words) {
  any_step_ = true;
  add(words, act::end_step{});
}

void parser::read_phase(word_cursor& words) {
  const std::string& text = words.word("prefill, decode or mixed").text;
  for (const phase one : {phase::prefill, phase::decode, phase::mixed}) {
    if (text == phase_name(one)) return add(words, act::begin_phase{one});
  }
  words.refuse_last("prefill, decode or mixed");
}

void parser::read_fault(word_cursor& words) {
  constexpr const char* calls = "alloc, free, event, query, wait or memory_info";
  constexpr std::pair<const char*, sim_call> names[] = {
      {"alloc", sim_call::allocate},    {"free", sim_call::free},       {"event", sim_call::record_event},
      {"query", sim_call::query_event}, {"wait", sim_call::wait_event}, {"memory_info", sim_call::query_memory}};
  const scenario_word& name = words.word(calls);
  const auto* const call =
      std::find_if(std::begin(names), std::end(names), [&](const auto& one) { return name.is(one.first); });
  if (call == std::end(names)) words.refuse_last(calls);
  act::plan_fault plan;
  plan.call = call->second;
  std::string_view number = words.word("which call, as in 3 or 3+").text;
  plan.persistent = number.ends_with('+');
  if (plan.persistent) number.remove_suffix(1);
  const auto nth = count_from(number, std::numeric_limits<std::uint32_t>::max());
  if (!nth || *nth == 0) words.refuse_last("which call, as in 3 or 3+");
  plan.nth = *nth;
  const std::string& answer = words.word("the status that it answers").text;
  const auto with = status_from(answer);
  if (!with) words.refuse_last("the status that it answers");
  plan.with = *with;
  add(words, plan);
}

void parser::read_expect(word_cursor& words) {
  if (words.next_is("miss")) return read_expect_miss(words);
  act::expect claim;
  claim.in_step = words.next_is("step");
  if (claim.in_step) {
    if (!any_step_) words.refuse_next("a counter (no step has ended yet)");
    words.keyword("step");
  }
  std::size_t count = 0;
  const counter_field* const fields = counter_fields(count);
  const std::string name = words.word("a counter").text;
  const auto* const field = std::find_if(fields, fields + count, [&](const auto& one) { return name == one.name; });
  if (field == fields + count) words.refuse_last("a counter");
  claim.field = field;
  claim.comparison = words.word("==, <=, >=, < or >").text;
  const auto is_it = [&](const char* one) { return claim.comparison == one; };
  if (std::none_of(std::begin(comparisons), std::end(comparisons), is_it)) words.refuse_last("==, <=, >=, < or >");
  claim.claim.append(claim.in_step ? "step " : "").append(name).append(" ").append(claim.comparison).append(" ");
  claim.value = take_expected_value(words, *field, claim.claim);
  add(words, std::move(claim));
}

std::uint64_t parser::take_expected_value(word_cursor& words, const counter_field& field, std::string& claim) {
  const bool is_source = field.value == &counters::cap_source;
  const bool is_bound = field.value == &counters::cached_bytes_max || field.value == &counters::capacity_bytes;
  const std::string expected = is_source  ? "explicit, environment, derived, fallback or unbounded"
                               : is_bound ? "unbounded, or " + std::string(a_size)
                                          : a_size;
  const std::string& text = words.word(expected.c_str()).text;
  claim.append(text);
  if (is_source) {
    for (std::uint64_t source = ARCALLOC_CAP_EXPLICIT; source <= ARCALLOC_CAP_UNBOUNDED; ++source) {
      if (text == cap_source_name(source)) return source;
    }
    words.refuse_last(expected);
  }
  if (is_bound && text == "unbounded") return ARCALLOC_NO_BOUND;
  const auto value = size_from(text);
  if (!value) words.refuse_last(expected);
  return *value;
}

void parser::read_compare(word_cursor& words, bool same) {
  const auto take = [&] {
    std::string id = words.name(an_id);
    if (!blocks_.contains(id)) words.refuse_last("the ID of a block that was allocated");
    return id;
  };
  std::string first = take();
  add(words, act::compare{std::move(first), take(), same});
}

scenario parse_scenario(const std::string& file, std::string_view text) {
  parser reader(file);
  for (const scenario_line& line : words_of(file, text)) reader.read(line);
  return reader.finish(1 + static_cast<std::uint64_t>(std::count(text.begin(), text.end(), '\n')));
}

scenario read_scenario(const std::string& file) {
  errno = 0;
  std::ifstream in(file, std::ios::binary);
  std::string text;
  char part[1 << 14];
  while (in && text.size() <= file_bytes_max) {
    in.read(part, sizeof part);
    text.append(part, static_cast<std::size_t>(in.gcount()));
  }
  if (text.size() > file_bytes_max) throw scenario_error{file + ": is more than 64 MiB long"};
  // A directory opens, and fails when it is read.
  if (in.bad() || !in.eof()) {
    throw scenario_error{file + ": cannot be read: " + std::generic_category().message(errno)};
  }
  return parse_scenario(file, text);
}

}  // namespace arcalloc::trace
