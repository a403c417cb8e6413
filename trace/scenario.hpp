// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <arcalloc/capture.hpp>
#include <arcalloc/counters.hpp>
#include <arcalloc/options.hpp>
#include <arcalloc/phase.hpp>
#include <arcalloc/sim_backend.hpp>
#include <arcalloc/status.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace arcalloc::trace {

/// What a line of a scenario does, one type per word of the language; docs/scenarios.md says what each
/// means. Plain values: made by the parser, or in code, and read by the runner. A block is called by
/// its ID, a graph and a profile by a name; the same ID may name another block after its free, the same name another
/// graph after its release.
namespace act {

struct allocate {
  std::string id;
  std::uint64_t bytes = 0;
  stream on = default_stream;
};
struct use {
  std::string id;
  std::optional<stream> on;  ///< none: the block's own
};
struct deallocate {
  std::string id;
  std::optional<stream> on;            ///< none: the block's own
  std::optional<std::uint64_t> bytes;  ///< given: free by address and size
};
struct busy {
  stream on = default_stream;
};
struct finish {
  stream on = default_stream;
};
struct wait {
  stream later = default_stream;
  stream earlier = default_stream;
};
struct end_stream {
  stream on = default_stream;
};
struct end_step {};
struct begin_phase {
  phase next = phase::mixed;
};
struct trim {
  std::uint64_t cached_bytes = 0;
};
struct drain {};
struct begin_capture {
  stream on = default_stream;
  capture_options how;
};
struct end_capture {
  stream on = default_stream;
  std::string graph;
};
struct abort_capture {
  stream on = default_stream;
};
struct replay_graph {
  std::string graph;
  stream on = default_stream;
};
struct release_graph {
  std::string graph;
};
struct prewarm_blocks {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 1;
  stream on = default_stream;
};
struct begin_profile {
  std::string profile;
};
struct end_profile {
  std::string profile;
};
struct prewarm_profile {
  std::string profile;
};
struct verify_profile {
  std::string profile;
};
struct set_others {
  std::uint64_t bytes = 0;
};
struct plan_fault {
  sim_call call = sim_call::allocate;
  std::uint64_t nth = 1;
  bool persistent = false;
  status with = status::backend_failed;
};
struct expect {
  const counter_field* field = nullptr;
  bool in_step = false;  ///< in the last closed step window
  std::string comparison;
  std::uint64_t value = 0;
  std::string claim;  ///< as it is written: "reserved_bytes <= 768MiB"
};
/// In the window that is open, or in the last one.
struct expect_miss {
  std::uint64_t bytes = 0;
  std::uint64_t count = 0;
  stream on = default_stream;
  std::string claim;
};
struct compare {
  std::string first;
  std::string second;
  bool same = true;
};

}  // namespace act

using action =
    std::variant<act::allocate, act::use, act::deallocate, act::busy, act::finish, act::wait, act::end_stream,
                 act::end_step, act::begin_phase, act::trim, act::drain, act::begin_capture, act::end_capture,
                 act::abort_capture, act::replay_graph, act::release_graph, act::prewarm_blocks, act::begin_profile,
                 act::end_profile, act::prewarm_profile, act::verify_profile, act::set_others, act::plan_fault,
                 act::expect, act::expect_miss, act::compare>;

/// One operation and what it has to answer. `line` is 1 for the first of the file.
struct operation {
  std::uint64_t line = 0;
  status expected = status::ok;
  action what;
};

/// One `env` line: a variable set, and what reading it has to answer.
struct environment_line {
  std::uint64_t line = 0;
  std::string name;
  std::string value;
  status expected = status::ok;
};

/// What `option` lines choose; applied after the environment has been read, so that they win.
struct option_choices {
  std::optional<cached_bound> cached_bytes_max;
  std::optional<std::uint64_t> capacity_bytes;
  std::optional<geometry> classes;
  std::optional<bool> enabled;
  std::optional<bool> oom_retry;
  std::optional<capture_policy> capture_miss;
};

/// A scenario: a device, settings, and what is done with them.
struct scenario {
  std::string file;  ///< for messages
  sim_options device;
  std::vector<environment_line> environment;
  option_choices options;
  std::vector<operation> operations;
};

}  // namespace arcalloc::trace
