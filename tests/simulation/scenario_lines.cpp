// SPDX-License-Identifier: Apache-2.0
#include "scenario_lines.hpp"

#include <map>
#include <set>

#include "engine_captures.hpp"

namespace arcalloc::testing {

namespace {

std::string size_text(std::uint64_t bytes) {
  struct unit {
    const char* name;
    std::uint64_t bytes;
  };
  for (const unit one : {unit{"GiB", std::uint64_t{1} << 30}, unit{"MiB", std::uint64_t{1} << 20},
                         unit{"KiB", std::uint64_t{1} << 10}}) {
    if (bytes != 0 && bytes % one.bytes == 0) return std::to_string(bytes / one.bytes).append(one.name);
  }
  return std::to_string(bytes);
}

std::string bound_text(bound_mode mode, std::uint64_t bytes) {
  if (mode == bound_mode::derived) return "derived";
  return mode == bound_mode::unbounded ? "unbounded" : size_text(bytes);
}

const char* call_name(sim_call call) {
  switch (call) {
    case sim_call::allocate:
      return "alloc";
    case sim_call::free:
      return "free";
    case sim_call::record_event:
      return "event";
    case sim_call::query_event:
      return "query";
    case sim_call::wait_event:
      return "wait";
    case sim_call::query_memory:
      return "memory_info";
  }
  return "unknown";
}

std::string block_name(std::uint32_t number) { return std::string("B").append(std::to_string(number)); }

/// A stream that takes the place of one that ended has a new name, and marks have names of their own.
std::string stream_name(stream on) {
  const auto number = static_cast<std::uint64_t>(on);
  if (engine_captures::is_mark(on))
    return std::string("@m").append(std::to_string(number - engine_captures::first_mark));
  return std::string("@s").append(std::to_string(number));
}

std::string graph_name(std::uint32_t number) { return std::string("g").append(std::to_string(number)); }

std::string profile_name(std::uint32_t number) { return std::string("p").append(std::to_string(number)); }

/// Words with blanks between.
template <class... Words>
std::string line_of(const char* first, const Words&... words) {
  std::string line(first);
  (line.append(" ").append(words), ...);
  return line;
}

template <class... Words>
std::string unsayable(const Words&... words) {
  return line_of("# the language cannot say:", words...);
}

std::string free_line(const operation& one, std::uint64_t requested_bytes) {
  const std::string name = block_name(one.block);
  switch (static_cast<way>(one.how)) {
    case way::handle:
      return line_of("free", name);
    case way::pointer:
    case way::pointer_and_bytes:
      return line_of("free", name, size_text(requested_bytes));
    case way::handle_on:
    case way::pointer_on:
      // The work that only the free tells of: the language has it told before.
      return line_of("use", name, stream_name(one.on)).append("\n").append(line_of("free", name, stream_name(one.on)));
  }
  return {};
}

std::string mistake_line(const operation& one, std::uint64_t requested_bytes) {
  const std::string name = block_name(one.block);
  switch (static_cast<mistake>(one.how)) {
    case mistake::foreign_pointer:
      return line_of("free", "nobodys");
    case mistake::wrong_size:
      return line_of("free", name, size_text(requested_bytes + 1 + one.bytes));
    case mistake::second_free:
      return one.bytes % 2 == 0 ? line_of("free", name) : line_of("free", name, size_text(requested_bytes));
    case mistake::use_of_a_foreign_pointer:
      return line_of("use", "nobodys", stream_name(one.on));
    case mistake::too_large:
      return line_of("alloc", "too_large", size_text(request_bytes_max + 1 + one.bytes), stream_name(one.on));
    case mistake::inside_a_block:
      return unsayable("a free of an address inside", name);
    case mistake::no_phase:
      return unsayable("a phase that there is not");
    case mistake::no_bound_mode:
      return unsayable("a bound that there is not");
    case mistake::second_window:
      return line_of("capture begin", stream_name(one.on));
    case mistake::join_of_no_window:
      if (one.bytes == 0) return unsayable("to join no window");
      return one.bytes == 1 ? line_of("capture abort", stream_name(one.on))
                            : line_of("capture end", stream_name(one.on), "nobodys");
    case mistake::unknown_graph:
      return one.bytes == 0 ? line_of("graph replay nobodys", stream_name(one.on)) : "graph release nobodys";
    case mistake::window_forbids:
      return one.bytes == 0 ? line_of("stream end", stream_name(one.on))
                            : line_of("prewarm 1000 x1", stream_name(one.on));
    case mistake::nothing:
      return unsayable("a request of zero bytes, and its free");
  }
  return {};
}

/// What a mistake must be answered.
status answer_to(mistake which) {
  switch (which) {
    case mistake::wrong_size:
    case mistake::no_phase:
    case mistake::no_bound_mode:
    case mistake::second_window:
    case mistake::join_of_no_window:
    case mistake::unknown_graph:
    case mistake::window_forbids:
      return status::invalid_argument;
    case mistake::second_free:
      return status::double_free;
    case mistake::too_large:
      return status::request_too_large;
    case mistake::foreign_pointer:
    case mistake::inside_a_block:
    case mistake::use_of_a_foreign_pointer:
      return status::unknown_pointer;
    case mistake::nothing:
      break;
  }
  return status::ok;
}

std::string fault_line(const planned_fault& fault) {
  return line_of("fault", call_name(fault.call), std::to_string(fault.nth).append(fault.persistent ? "+" : ""),
                 status_name(fault.with));
}

std::string begin_line(const operation& one) {
  std::string line = line_of("capture begin", stream_name(one.on));
  if (one.bytes != 0) line.append(" pool=g").append(std::to_string(one.bytes));
  const auto policy = static_cast<capture_policy>(one.how);
  if (policy == capture_policy::as_configured) return line;
  return line.append(policy == capture_policy::refuse ? " policy=refuse" : " policy=grow");
}

/// One line for each kind.
std::string line_of_operation(const operation& one, std::uint64_t requested_bytes) {
  switch (one.what) {
    case act::allocate:
      return line_of("alloc", block_name(one.block), size_text(one.bytes), stream_name(one.on));
    case act::free_block:
      return free_line(one, requested_bytes);
    case act::use:
      return line_of("use", block_name(one.block), stream_name(one.on));
    case act::busy:
      return line_of("busy", stream_name(one.on));
    case act::finish:
      return line_of("finish", stream_name(one.on));
    case act::wait:
      return line_of("wait", stream_name(one.on), stream_name(one.before));
    case act::end_step:
      return "step";
    case act::begin_phase:
      return line_of("phase", phase_name(static_cast<phase>(one.how)));
    case act::trim:
      return line_of("trim", size_text(one.bytes));
    case act::drain:
      return "drain";
    case act::set_cached_max:
      return unsayable("set_cached_bytes_max", bound_text(static_cast<bound_mode>(one.how), one.bytes));
    case act::set_capacity:
      return unsayable("set_capacity_bytes", size_text(one.bytes));
    case act::set_enabled:
      return unsayable("set_enabled", std::to_string(one.how));
    case act::set_others:
      return line_of("device", std::string("others=").append(size_text(one.bytes)));
    case act::plan_fault:
      return fault_line(one.fault);
    case act::misuse:
      return mistake_line(one, requested_bytes);
    case act::reset_peaks:
      return unsayable("reset_peaks");
    case act::begin_capture:
      return begin_line(one);
    case act::end_capture:
      return line_of("capture end", stream_name(one.on), graph_name(one.block));
    case act::abort_capture:
      return line_of("capture abort", stream_name(one.on));
    case act::launch:
      return line_of("graph replay", graph_name(one.block), stream_name(one.on));
    case act::release_graph:
      return line_of("graph release", graph_name(one.block));
    case act::end_stream:
      return line_of("stream end", stream_name(one.on));
    case act::begin_profile:
      return line_of("record profile", profile_name(one.block));
    case act::end_profile:
      return line_of("end profile", profile_name(one.block));
    case act::prewarm:
      return line_of("prewarm", size_text(one.bytes), std::string("x").append(std::to_string(one.how)),
                     stream_name(one.on));
    case act::prewarm_profile:
      return line_of("prewarm profile", profile_name(one.block));
    case act::verify_profile:
      return line_of("verify profile", profile_name(one.block));
    case act::end_actor:
      return unsayable("the end of actor", std::to_string(one.actor));
  }
  return {};
}

/// Whether its line may say what it is answered; what is never refused has no answer.
bool has_answer(act what) {
  switch (what) {
    case act::allocate:
    case act::free_block:
    case act::use:
    case act::begin_phase:
    case act::trim:
    case act::drain:
    case act::misuse:
    case act::begin_capture:
    case act::end_capture:
    case act::abort_capture:
    case act::launch:
    case act::release_graph:
    case act::end_stream:
    case act::begin_profile:
    case act::end_profile:
    case act::prewarm:
    case act::prewarm_profile:
    case act::verify_profile:
      return true;
    case act::busy:
    case act::finish:
    case act::wait:
    case act::end_step:
    case act::set_cached_max:
    case act::set_capacity:
    case act::set_enabled:
    case act::set_others:
    case act::plan_fault:
    case act::reset_peaks:
    case act::end_actor:
      return false;
  }
  return false;
}

/// What is always answered, where it is done at all, did nothing without an answer.
bool did_nothing(const operation& one, const std::optional<status>& answer) {
  return (has_answer(one.what) || one.what == act::busy || one.what == act::wait) && !answer;
}

std::string head_of(const plan& of, const simulation_result& came_to) {
  std::string head =
      line_of("#", came_to.violation.empty() ? std::string("nothing is wrong") : came_to.violation).append("\n");
  if (came_to.at_the_end) head.append("# found when everything was over\n");
  if (of.actors > 1) head.append(unsayable("several actors, each a thread")).append("\n");
  if (of.ends_with_blocks) head.append(unsayable("an end with blocks out")).append("\n");
  if (of.settings.cache_in_prefill) head.append(unsayable("cache_in_prefill")).append("\n");
  if (!of.device.allocates_beside_capture)
    head.append(unsayable("a device without allocate_beside_capture")).append("\n");
  head.append(line_of("device", std::string("memory=").append(size_text(of.device.memory_bytes)),
                      std::string("granularity=").append(size_text(of.device.granularity))))
      .append("\n");
  const options& chosen = of.settings;
  const auto option = [&](const char* name, const std::string& value) {
    head.append("option ").append(name).append("=").append(value).append("\n");
  };
  if (chosen.cached_bytes_max.mode != bound_mode::derived) {
    option("cached_bytes_max", bound_text(chosen.cached_bytes_max.mode, chosen.cached_bytes_max.bytes));
  }
  if (chosen.capacity_bytes != 0) option("capacity_bytes", size_text(chosen.capacity_bytes));
  if (chosen.classes != geometry::classes_8) option("geometry", geometry_name(chosen.classes));
  if (!chosen.enabled) option("enabled", "0");
  if (!chosen.oom_retry) option("oom_retry", "0");
  if (chosen.capture_miss == capture_policy::refuse) option("capture_miss", "refuse");
  // A fault before anything else would meet the allocator's creation: the plan's came after it.
  if (!of.operations.empty() && of.operations.front().what == act::plan_fault) head.append("finish @s0\n");
  return head;
}

/// The waits that operations needed, as lines before theirs. A mark that nothing waits for is left out.
class wait_lines {
 public:
  explicit wait_lines(const std::vector<stream_wait>& waits) : waits_(waits) {
    for (const stream_wait& one : waits) waited_for_.insert(one.earlier);
  }

  std::string before(std::size_t operation) {
    std::string text;
    for (; next_ < waits_.size() && waits_[next_].operation <= operation; ++next_) {
      const stream_wait& one = waits_[next_];
      if (engine_captures::is_mark(one.later) && waited_for_.count(one.later) == 0) continue;
      text.append(line_of("wait", stream_name(one.later), stream_name(one.earlier))).append("\n");
    }
    return text;
  }

 private:
  const std::vector<stream_wait>& waits_;
  std::set<stream> waited_for_;
  std::size_t next_ = 0;
};

}  // namespace

std::string scenario_lines(const plan& of, const simulation_result& came_to) {
  std::string text = head_of(of, came_to);
  std::map<std::uint32_t, std::uint64_t> requested;
  wait_lines waits(came_to.waits);
  engine_captures streams;  // which of them have ended
  std::uint32_t actor = 0;
  std::uint32_t recorded = 0;
  for (std::size_t i = 0; i < came_to.played; ++i) {
    operation one = of.operations[i];
    const std::optional<status>& answer = came_to.answers[i];
    text.append(waits.before(i));
    if (did_nothing(one, answer)) continue;
    if (one.what == act::begin_profile) recorded = one.block;
    if (one.what == act::end_profile) one.block = recorded;
    const stream name = one.on;
    one.on = streams.named(name);
    one.before = streams.named(one.before);
    if (one.what == act::end_stream && answer == status::ok) streams.end(name);
    if (one.what == act::allocate) requested[one.block] = one.bytes;
    if (one.actor != actor) text.append(unsayable("actor", std::to_string(one.actor))).append("\n");
    actor = one.actor;
    std::string line = line_of_operation(one, requested[one.block]);
    // What is blamed was not answered as it has to be.
    const bool blamed = i + 1 == came_to.played && !came_to.violation.empty() && !came_to.at_the_end;
    status due = answer.value_or(status::ok);
    if (blamed) due = one.what == act::misuse ? answer_to(static_cast<mistake>(one.how)) : status::ok;
    if (due != status::ok && has_answer(one.what) && line.front() != '#') line.append(" -> ").append(status_name(due));
    text.append(line).append("\n");
  }
  return text;
}

}  // namespace arcalloc::testing
