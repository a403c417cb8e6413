// SPDX-License-Identifier: Apache-2.0
// What the simulated device thinks of memory that captures and graphs touch.
#include <algorithm>
#include <iterator>

#include "sim_state.hpp"

namespace arcalloc {

/// One use for each block that is out there; what lies in none is known by its address alone.
void sim_backend::state::record_use(captured_graph& capture, const lent_range& around, const address_range& touched,
                                    const work_point& work) {
  bool is_of_one_block = false;
  auto at = around.blocks_out.upper_bound(touched.begin);
  if (at != around.blocks_out.begin()) --at;
  for (; at != around.blocks_out.end() && at->first < touched.end; ++at) {
    const block_out& block = at->second;
    if (!block.range.overlaps(touched)) continue;
    const address_range part{std::max(block.range.begin, touched.begin), std::min(block.range.end, touched.end)};
    capture.add({part, around.lending, block.hand_out, block.owner, work});
    is_of_one_block = is_of_one_block || block.range.contains(touched);
  }
  if (!is_of_one_block) capture.add({touched, around.lending, 0, {}, work});
}

void sim_backend::state::judge_captured(const address_range& block, stream on, const captured_graph* capture) {
  work_point now;
  if (capture != nullptr) now = capture->order.reached(on);
  for (const auto& [graph_number, graph] : captured.all()) {
    const bool is_own = &graph == capture;
    if (!is_own && capture != nullptr && graph.shares_with(capture->group)) continue;
    const captured_use* const former = graph.find_use(block, [&](const captured_use& use) {
      return use.hand_out != 0 && !(is_own && work_order::ordered_before(use.work, now));
    });
    if (former == nullptr) continue;
    if (is_own) {
      judgement.convict("the block ", named(block), " is handed to ", named(on), " before the captured work of ",
                        named(former->work.on), " on ", named(former->touched), " is ordered before it");
    } else if (graph.open) {
      judgement.convict("the block ", named(block), " is handed to ", named(on), " over ", named(former->touched),
                        ", which the open capture on ", named(graph.begun_on), " touches as a block of ",
                        named(former->owner));
    } else {
      judgement.convict("the block ", named(block), " is handed to ", named(on), " over ", named(former->touched),
                        ", which graph ", graph_number, " touches as a block of ", named(former->owner));
    }
  }
}

bool sim_backend::state::judge_launch(const captured_graph& launched, const captured_use& use, stream on) {
  const lent_range* const around = memory.around(use.touched);
  if (around == nullptr || around->lending != use.lending) {
    judgement.convict(
        "graph ", launched.number, " is launched on ", named(on), " over ", named(use.touched), ", a block of ",
        named(use.owner),
        around == nullptr ? ", which the driver no longer backs" : ", which the driver took back since and lent again");
    return false;
  }
  if (use.hand_out == 0) return true;
  auto at = around->blocks_out.upper_bound(use.touched.begin);
  if (at != around->blocks_out.begin()) --at;
  for (; at != around->blocks_out.end() && at->first < use.touched.end; ++at) {
    const block_out& block = at->second;
    if (!block.range.overlaps(use.touched) || block.hand_out == use.hand_out) continue;
    if (block.capture == launched.number || launched.shares_with(block.group)) continue;
    judgement.convict("graph ", launched.number, " is launched on ", named(on), " over ", named(use.touched),
                      ", a block of ", named(use.owner), ", where ", named(block.owner), " has the block ",
                      named(block.range), " since");
    return false;
  }
  return true;
}

}  // namespace arcalloc
