// SPDX-License-Identifier: Apache-2.0
// The calls of the simulated device that are about captures and graphs, each locked and noted.
#include "sim_state.hpp"

namespace arcalloc {

void sim_backend::begin_capture(stream on, std::uint64_t group) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::begin_capture), number(on), group});
  if (at.captured.around(on) != nullptr) {
    at.judgement.convict("a capture begins on ", named(on), ", which is in one");
    return;
  }
  at.captured.begin(on, group);
}

sim_graph sim_backend::end_capture(stream on) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  const captured_graph* const closed = at.captured.close(on);
  if (closed == nullptr) at.judgement.convict("a capture ends on ", named(on), ", where none began");
  const sim_graph made{closed == nullptr ? 0 : closed->number};
  at.judgement.note({number(played::end_capture), number(on), number(made)});
  return made;
}

void sim_backend::abort_capture(stream on) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::abort_capture), number(on)});
  const captured_graph* const closed = at.captured.close(on);
  if (closed != nullptr) return at.captured.forget(closed->number);
  at.judgement.convict("a capture is aborted on ", named(on), ", where none began");
}

const captured_graph* sim_backend::state::known_graph(const char* call, sim_graph graph) {
  const captured_graph* const found = captured.graph(number(graph));
  if (found != nullptr) return found;
  judgement.convict(call, " of graph ", number(graph),
                    captured.was_there(number(graph)) ? ", which is no graph any more" : ", which was never captured");
  return nullptr;
}

void sim_backend::launch_graph(sim_graph graph, stream on) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::launch_graph), number(graph), number(on)});
  const captured_graph* const launched = at.known_graph("launch", graph);
  if (launched == nullptr) return;
  if (at.captured.around(on) != nullptr) {
    at.judgement.convict("launch of graph ", launched->number, " on ", named(on), ", which is in a capture");
    return;
  }
  const work_point work = at.order.enqueue(on);
  bool is_right = true;
  for (const auto& [begin, use] : launched->uses) {
    // One sentence for a launch, as the device would fault once.
    is_right = is_right && at.judge_launch(*launched, use, on);
    lent_range* const around = at.memory.around(use.touched);
    if (around != nullptr) state::note_use(*around, {use.touched, work, launched->group});
  }
}

void sim_backend::forget_graph(sim_graph graph) {
  state& at = *state_;
  const std::lock_guard guard(at.mutex);
  at.judgement.begin_call();
  at.judgement.note({number(played::forget_graph), number(graph)});
  if (at.known_graph("forget", graph) != nullptr) at.captured.forget(number(graph));
}

}  // namespace arcalloc
