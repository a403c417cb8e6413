// SPDX-License-Identifier: Apache-2.0
// What a scenario does with captures, graphs, and what is prewarmed for them.
#include "trace/scenario_runner.hpp"

namespace arcalloc::trace {

namespace {

std::string stream_text(stream on) { return std::to_string(static_cast<std::uint64_t>(on)); }

std::string entries_text(const profile& what) {
  std::string text;
  for (const profile_entry& one : what.entries()) {
    text.append(text.empty() ? "" : ", ").append(std::to_string(one.bytes)).append(" x");
    text.append(std::to_string(one.blocks)).append(" on stream ").append(stream_text(one.on));
  }
  return text.empty() ? "nothing is short" : "short of " + text;
}

std::string misses_text(const std::vector<capture_miss_record>& records) {
  std::string text;
  for (const capture_miss_record& one : records) {
    text.append(text.empty() ? "miss " : ", miss ").append(std::to_string(one.requested_bytes)).append(" x");
    text.append(std::to_string(one.count)).append(" on stream ").append(stream_text(one.on));
  }
  return text.empty() ? "no miss" : text;
}

std::vector<capture_miss_record> misses_of(const allocator& memory) {
  std::vector<capture_miss_record> records(memory.read_capture_misses(nullptr, 0));
  records.resize(memory.read_capture_misses(records.data(), records.size()));
  return records;
}

}  // namespace

void runner::carry_out(const act::wait& asked) {
  if (memory_->is_capturing(asked.earlier) || memory_->is_capturing(asked.later)) {
    const status joined = memory_->join_capture(asked.later, asked.earlier);
    answer(joined);
    if (joined != status::ok) return;
  } else {
    answer(status::ok);
  }
  device_.wait(asked.later, asked.earlier);
}

void runner::carry_out(const act::begin_capture& asked) {
  const status begun = memory_->begin_capture(asked.on, asked.how);
  answer(begun);
  if (begun != status::ok) return;
  device_.begin_capture(asked.on, static_cast<std::uint64_t>(asked.how.group));
  captures_.insert(asked.on);
}

void runner::carry_out(const act::end_capture& asked) {
  captured_graph made;
  if (captures_.erase(asked.on) != 0) made.on_device = device_.end_capture(asked.on);
  const status ended = memory_->end_capture(asked.on, made.pinned);
  answer(ended);
  if (ended == status::ok) {
    graphs_[asked.graph] = made;
  } else if (made.on_device != sim_graph::none) {
    device_.forget_graph(made.on_device);
  }
}

void runner::carry_out(const act::abort_capture& asked) {
  if (captures_.erase(asked.on) != 0) device_.abort_capture(asked.on);
  answer(memory_->abort_capture(asked.on));
}

/// Null for a name without a graph: recorded, where the line needs one.
const runner::captured_graph* runner::find_graph(const std::string& name) {
  const auto found = graphs_.find(name);
  if (found != graphs_.end()) return &found->second;
  if (expected_ == status::ok) fail("a graph", "none: an earlier line was not answered as expected");
  return nullptr;
}

void runner::carry_out(const act::replay_graph& asked) {
  const captured_graph* const known = find_graph(asked.graph);
  if (known == nullptr) {
    if (expected_ != status::ok) answer(memory_->note_replay(graph_id::none, asked.on));
    return;
  }
  device_.launch_graph(known->on_device, asked.on);
  answer(memory_->note_replay(known->pinned, asked.on));
}

void runner::carry_out(const act::release_graph& asked) {
  const captured_graph* const known = find_graph(asked.graph);
  if (known == nullptr) {
    if (expected_ != status::ok) answer(memory_->release_graph(graph_id::none));
    return;
  }
  // The engine destroys it first: from the allocator's call on its memory is for others.
  device_.forget_graph(known->on_device);
  answer(memory_->release_graph(known->pinned));
  graphs_.erase(asked.graph);
}

void runner::carry_out(const act::prewarm_blocks& asked) {
  profile wanted;
  profile missing;
  if (!wanted.add({asked.on, asked.bytes, asked.blocks})) return fail("a profile", "no host memory");
  const status found = memory_->prewarm(wanted, &missing);
  answer(found, entries_text(missing));
}

void runner::carry_out(const act::begin_profile& asked) {
  const status begun = memory_->begin_profile();
  answer(begun);
  if (begun == status::ok) recorded_ = asked.profile;
}

void runner::carry_out(const act::end_profile& asked) {
  profile recorded;
  const status ended = memory_->end_profile(recorded);
  answer(ended);
  if (ended != status::ok) return;
  profiles_.insert_or_assign(asked.profile, std::move(recorded));
  recorded_.clear();
}

/// As find_graph.
const profile* runner::find_profile(const std::string& name) {
  const auto found = profiles_.find(name);
  if (found != profiles_.end()) return &found->second;
  fail("a profile", "none: an earlier line was not answered as expected");
  return nullptr;
}

void runner::carry_out(const act::prewarm_profile& asked) {
  const profile* const wanted = find_profile(asked.profile);
  if (wanted == nullptr) return;
  profile missing;
  const status found = memory_->prewarm(*wanted, &missing);
  answer(found, entries_text(missing));
}

void runner::carry_out(const act::verify_profile& asked) {
  const profile* const wanted = find_profile(asked.profile);
  if (wanted == nullptr) return;
  profile missing;
  const status found = memory_->verify(*wanted, &missing);
  answer(found, entries_text(missing));
}

void runner::carry_out(const act::expect_miss& claim) {
  ++result_.expectations_checked;
  const std::vector<capture_miss_record> records = misses_of(*memory_);
  for (const capture_miss_record& one : records) {
    if (one.requested_bytes == claim.bytes && one.on == claim.on && one.count == claim.count) return;
  }
  fail(std::string(claim.claim).append(" on stream ").append(stream_text(claim.on)), misses_text(records));
}

/// What the scenario left: windows are aborted, graphs released, a recording ended.
void runner::finish_captures() {
  for (const stream on : captures_) {
    device_.abort_capture(on);
    expect_ok("abort_capture", memory_->abort_capture(on));
  }
  captures_.clear();
  for (const auto& [name, known] : graphs_) {
    device_.forget_graph(known.on_device);
    expect_ok("release_graph", memory_->release_graph(known.pinned));
  }
  graphs_.clear();
  profile left;
  if (!recorded_.empty()) expect_ok("end_profile", memory_->end_profile(left));
}

}  // namespace arcalloc::trace
