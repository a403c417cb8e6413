// SPDX-License-Identifier: Apache-2.0
#include "sim_state.hpp"

#include <algorithm>
#include <bit>
#include <iterator>

namespace arcalloc {
namespace {

// Every address is aligned to this, whatever the granule.
constexpr std::size_t alignment_min = 512;

bool is_power_of_two(std::size_t value) { return value != 0 && (value & (value - 1)) == 0; }

std::size_t alignment_for(std::size_t granule) {
  return is_power_of_two(granule) ? std::max(granule, alignment_min) : alignment_min;
}

}  // namespace

sim_backend::state::state(const sim_options& given) : settings(given), memory(alignment_for(given.granularity)) {
  if (!is_power_of_two(settings.granularity)) {
    judgement.convict("a granularity of ", settings.granularity, " is no power of two; 512 is used");
    settings.granularity = alignment_min;
  }
}

std::uint64_t sim_backend::state::free_bytes() const {
  const std::uint64_t ours = settings.memory_bytes - std::min(settings.memory_bytes, settings.others_bytes);
  return ours - std::min(ours, memory.lent_bytes());
}

bool sim_backend::state::legal_in_capture(const char* call) {
  if (!captured.any_open()) return true;
  judgement.convict(call, " while a capture is open on ", named(captured.first_open()));
  return false;
}

status sim_backend::state::lend(std::size_t bytes, status planned, void*& address) {
  if (bytes == 0 || bytes % settings.granularity != 0) {
    judgement.convict("allocate of ", bytes, " bytes, no positive multiple of the granule of ", settings.granularity);
    return status::invalid_argument;
  }
  if (planned != status::ok) return planned;
  if (bytes > free_bytes()) return status::device_out_of_memory;
  const lent_range* const fresh = memory.lend(bytes);
  if (fresh == nullptr) return status::device_out_of_memory;
  if (memory.lent_bytes() > capacity_bytes) {
    judgement.convict("allocate of ", bytes, " bytes makes ", memory.lent_bytes(),
                      " bytes lent, above the capacity of ", capacity_bytes);
  }
  address = std::bit_cast<void*>(fresh->range.begin);
  return status::ok;
}

lent_range* sim_backend::state::freed_range(std::uint64_t begin, std::uint64_t bytes) {
  const address_range said{begin, begin + bytes};
  lent_range* const found = memory.starting_at(begin);
  if (found == nullptr) {
    if (memory.around({begin, begin + 1}) != nullptr) {
      judgement.convict("free of ", named(said), ", which is inside a lent range and not its beginning");
    } else if (memory.was_lent(begin)) {
      judgement.convict("second free of ", named(said));
    } else {
      judgement.convict("foreign free of ", named(said), ", which was never lent");
    }
    return nullptr;
  }
  if (found->range.bytes() != bytes) {
    judgement.convict("free with the wrong size: ", named(said), " for ", named(found->range));
    return nullptr;
  }
  return found;
}

void sim_backend::state::judge_idle(lent_range& leaving) {
  if (!leaving.blocks_out.empty()) {
    judgement.convict("free of ", named(leaving.range), " while the block ",
                      named(leaving.blocks_out.begin()->second.range), " is out");
  }
  for (const auto& [begin, use] : leaving.uses) {
    if (order.settled(use.work)) continue;
    if (!order.finished(use.work)) {
      judgement.convict("free of ", named(leaving.range), " with unfinished work of ", named(use.work.on), " on ",
                        named(use.touched));
      return;
    }
    order.settle(use.work);
  }
}

const work_point* sim_backend::state::known_event(const char* call, event point) {
  const auto number = static_cast<std::uint64_t>(point);
  const auto found = events.find(number);
  if (found != events.end()) return &found->second;
  if (number != 0 && number <= last_event) {
    judgement.convict(call, " of event ", number, ", which was dropped");
  } else {
    judgement.convict(call, " of event ", number, ", which was never recorded");
  }
  return nullptr;
}

void sim_backend::state::note_use(lent_range& around, const noted_use& fresh) {
  const auto beyond = around.uses.lower_bound(fresh.touched.end);
  for (auto at = around.uses.lower_bound(fresh.touched.begin); at != beyond;) {
    const noted_use& use = at->second;
    const bool replaced = fresh.touched.contains(use.touched) && work_order::ordered_before(use.work, fresh.work);
    at = replaced ? around.uses.erase(at) : std::next(at);
  }
  around.uses.emplace(fresh.touched.begin, fresh);
  around.use_bytes_most = std::max(around.use_bytes_most, fresh.touched.bytes());
}

void sim_backend::state::judge_overlap(const lent_range& around, const address_range& block) {
  const auto after = around.blocks_out.lower_bound(block.begin);
  const address_range* other = nullptr;
  if (after != around.blocks_out.end() && after->second.range.overlaps(block)) other = &after->second.range;
  if (after != around.blocks_out.begin() && std::prev(after)->second.range.overlaps(block)) {
    other = &std::prev(after)->second.range;
  }
  if (other == nullptr) return;
  judgement.convict("the block ", named(block), " is handed out over ", named(*other),
                    ", which is out: handed_back was not called for it");
}

void sim_backend::state::judge_order(lent_range& around, const address_range& block, stream on,
                                     const captured_graph* capture) {
  const work_point now = order.reached(on);
  // A graph is launched after the work of the stream that its capture began on, whichever stream of it a node is from.
  const work_point begun = capture == nullptr ? work_point{} : order.reached(capture->begun_on);
  bool convicted = false;
  const auto answered = [&](const noted_use& use) {
    if (!use.touched.overlaps(block)) return false;
    if (order.settled(use.work)) return true;
    // Kept where order alone makes it right: the next owner may have another stream.
    if (work_order::ordered_before(use.work, now)) return false;
    if (capture != nullptr && work_order::ordered_before(use.work, begun)) return false;
    // Graphs of one group are never run at once.
    if (capture != nullptr && capture->shares_with(use.group)) return false;
    if (order.finished(use.work)) {
      order.settle(use.work);
      return true;
    }
    if (!convicted) {
      judgement.convict("the block ", named(block), " is handed to ", named(on), " before the work of ",
                        named(use.work.on), " on ", named(use.touched), " is finished or ordered before it");
    }
    return convicted = true;
  };
  // What begins this far before the block does not reach it.
  const std::uint64_t earliest = block.begin - std::min(block.begin, around.use_bytes_most);
  const auto beyond = around.uses.lower_bound(block.end);
  for (auto at = around.uses.upper_bound(earliest); at != beyond;) {
    at = answered(at->second) ? around.uses.erase(at) : std::next(at);
  }
}

}  // namespace arcalloc
