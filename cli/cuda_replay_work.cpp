// SPDX-License-Identifier: Apache-2.0
#include "cuda_replay_work.hpp"

namespace arcalloc::cli {

namespace {

constexpr std::size_t complaints_most = 10;

}  // namespace

stream cuda_replay_work::open_stream(std::uint64_t) {
  auto fresh = std::make_unique<decode::cuda_stream>(device_);
  const stream on = fresh->on();
  streams_[on] = std::move(fresh);
  return on;
}

void cuda_replay_work::handed_out(stream on, void* address, std::uint64_t bytes) {
  if (address == nullptr) return;
  // Never 0, which fresh memory often holds.
  last_fill_ = static_cast<unsigned char>(last_fill_ % 255 + 1);
  blocks_[address] = {on, bytes, last_fill_, !captures_.empty()};
  at(on).set(address, last_fill_, bytes);
}

void cuda_replay_work::use(stream on, void* address, std::uint64_t bytes) {
  if (address != nullptr) at(on).set(address, blocks_.at(address).with, bytes);
}

void cuda_replay_work::handed_back(void* address) {
  const auto known = blocks_.find(address);
  if (known == blocks_.end()) return;
  const filled block = known->second;
  blocks_.erase(known);
  // Nobody may wait for anything in a capture, and what was enqueued there has not been done.
  if (block.is_of_graph || !captures_.empty()) return;
  unsigned char ends[2] = {};
  at(block.on).copy_out(&ends[0], address, 1);
  at(block.on).copy_out(&ends[1], static_cast<unsigned char*>(address) + block.bytes - 1, 1);
  if ((ends[0] == block.with && ends[1] == block.with) || wrong_.size() == complaints_most) return;
  std::string complaint("a block of ");
  wrong_.push_back(complaint.append(std::to_string(block.bytes)).append(" bytes held what somebody else wrote"));
}

void cuda_replay_work::begin_capture(stream on, std::uint64_t) {
  at(on).begin_capture();
  captures_[on];
}

void cuda_replay_work::join_capture(stream joining, stream capturing) {
  at(joining).wait_for(at(capturing));
  for (auto& [origin, joined] : captures_) {
    bool is_its = origin == capturing;
    for (const stream one : joined) is_its = is_its || one == capturing;
    if (is_its) joined.push_back(joining);
  }
}

std::uint64_t cuda_replay_work::end_capture(stream on) {
  // A trace does not say that the others are waited for; a driver demands it.
  for (const stream joined : captures_[on]) at(on).wait_for(at(joined));
  captures_.erase(on);
  graphs_[++last_graph_] = {on, at(on).end_capture()};
  return last_graph_;
}

void cuda_replay_work::abort_capture(stream on) {
  captures_.erase(on);
  at(on).abort_capture();
}

void cuda_replay_work::launch(std::uint64_t graph, stream on) {
  const captured& what = graphs_.at(graph);
  // A graph is launched where it was captured; for another stream it is as if it were launched there.
  if (what.on != on) at(what.on).wait_for(at(on));
  what.launch();
  if (what.on != on) at(on).wait_for(at(what.on));
}

std::vector<std::string> cuda_replay_work::finish() {
  graphs_.clear();
  streams_.clear();
  return wrong_;
}

}  // namespace arcalloc::cli
