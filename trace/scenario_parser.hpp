// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "trace/scenario.hpp"
#include "trace/word_cursor.hpp"

namespace arcalloc::trace {

inline constexpr const char* an_id = "the ID of a block";

/// Turns lines of words into a scenario, one line at a time.
///
/// Of parse_scenario alone. Knows which IDs have a block, which streams are in a capture, and which graphs and
/// profiles there are, if every line is answered as expected: so that a name without its thing is an error of the file.
/// What reads the settings stands in scenario_settings_text.cpp, captures and profiles in scenario_capture_text.cpp.
/// Concurrency: one thread; `file` must outlive it.
class parser {
 public:
  explicit parser(const std::string& file) { made_.file = file; }

  void read(const scenario_line& line);
  scenario finish(std::uint64_t lines);

 private:
  struct verb {
    const char* name;
    void (parser::*read)(word_cursor&);
    bool has_status;  ///< the line may end in `-> STATUS`
    bool is_setting;  ///< precedes the first operation
  };
  static const verb verbs[];

  /// What is known of the name of a block or a graph.
  struct known_name {
    bool live = false;
    std::uint64_t since_line = 0;
  };
  struct open_capture {
    stream begun_on = default_stream;
    std::uint64_t since_line = 0;
  };

  void add(const word_cursor& at, action what) { made_.operations.push_back({at.line(), expected_, std::move(what)}); }
  stream stream_of(const std::string& name) {
    return stream{streams_.try_emplace(name, streams_.size()).first->second};
  }
  stream take_stream(word_cursor& words) { return stream_of(words.stream_name()); }
  std::optional<stream> take_optional_stream(word_cursor& words) {
    return words.next_is_stream() ? std::optional(take_stream(words)) : std::nullopt;
  }
  std::string take_used_id(word_cursor& words);
  stream take_capturing(word_cursor& words);
  std::string take_graph(word_cursor& words);
  std::string take_profile(word_cursor& words);
  static std::uint64_t take_count(word_cursor& words);

  void read_device(word_cursor& words);
  void read_option(word_cursor& words);
  void read_environment(word_cursor& words);
  void read_allocate(word_cursor& words);
  void read_use(word_cursor& words);
  void read_free(word_cursor& words);
  void read_busy(word_cursor& words) { add(words, act::busy{take_stream(words)}); }
  void read_finish(word_cursor& words) { add(words, act::finish{take_stream(words)}); }
  void read_wait(word_cursor& words);
  void read_stream(word_cursor& words);
  void read_step(word_cursor& words);
  void read_phase(word_cursor& words);
  void read_trim(word_cursor& words) { add(words, act::trim{words.size(a_size)}); }
  void read_drain(word_cursor& words) { add(words, act::drain{}); }
  void read_capture(word_cursor& words);
  void read_capture_begin(word_cursor& words);
  void read_capture_end(word_cursor& words);
  void read_graph(word_cursor& words);
  void read_prewarm(word_cursor& words);
  void read_record(word_cursor& words);
  void read_end(word_cursor& words);
  void read_verify(word_cursor& words);
  void read_fault(word_cursor& words);
  void read_expect_miss(word_cursor& words);
  void read_expect(word_cursor& words);
  void read_same(word_cursor& words) { read_compare(words, true); }
  void read_differ(word_cursor& words) { read_compare(words, false); }
  void read_compare(word_cursor& words, bool same);
  std::uint64_t take_expected_value(word_cursor& words, const counter_field& field, std::string& claim);

  scenario made_;
  status expected_ = status::ok;  // of the line being read
  bool any_step_ = false;
  std::map<std::string, known_name> blocks_;
  std::map<std::string, known_name> graphs_;
  std::map<std::string, std::uint64_t> profiles_;  // and the lines that end them; 0 while one is recorded
  std::map<stream, open_capture> captures_;        // of each stream in one
  std::map<std::string, std::uint64_t> groups_;
  // s0 is the stream of those that name none.
  std::map<std::string, std::uint64_t> streams_{{"s0", 0}};
};

}  // namespace arcalloc::trace
