// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <cstdint>
#include <vector>

namespace arcalloc::testing {

/// What an engine does with an allocator and its device, one at a time. To add one: a line here, one where it is
/// drawn (drawing.cpp), one where it is played (player.cpp), one where it is written (scenario_lines.cpp).
/// The last stays the last: it counts them.
enum class act : std::uint8_t {
  allocate,     ///< `bytes` on `on`, to be block `block`, and work there that uses it
  free_block,   ///< `block`, by the way `how`; ordered on `on` where the way says so
  use,          ///< work on `on` that uses `block`, and says so; by handle or pointer
  busy,         ///< all work on `on` stays unfinished
  finish,       ///< until this
  wait,         ///< later work of `on` is ordered after the work of `before`; with `how` it joins the window there
  end_step,     ///< and the window is looked at
  begin_phase,  ///< `how`, a phase
  trim,         ///< to `bytes`
  drain,
  set_cached_max,  ///< `how`, a bound_mode; `bytes`
  set_capacity,    ///< `bytes`; 0: none
  set_enabled,     ///< `how`: 1 or 0
  set_others,      ///< other processes take `bytes`
  plan_fault,      ///< `fault`
  misuse,          ///< `how`, a mistake; of `block` where it is one with a block
  reset_peaks,
  begin_capture,    ///< on `on`, with the policy `how`, in the pool group `bytes`; 0: in none
  end_capture,      ///< of the window that began on `on`, to be graph `block`
  abort_capture,    ///< of the window that began on `on`
  launch,           ///< graph `block` on `on`; with `how` the allocator is told only where it must be
  release_graph,    ///< `block`
  end_stream,       ///< `on` goes away: its name means another one
  begin_profile,    ///< to be profile `block`
  end_profile,      ///< the one that is recorded
  prewarm,          ///< for `how` blocks of `bytes` at once on `on`
  prewarm_profile,  ///< for profile `block`
  verify_profile,   ///< `block`
  end_actor,        ///< the actor's thread ends; its next operation begins another
};
inline constexpr std::size_t act_count = static_cast<std::size_t>(act::end_actor) + 1;

/// The ways to give a block back.
enum class way : std::uint8_t { handle, pointer, pointer_and_bytes, handle_on, pointer_on };
inline constexpr std::size_t way_count = 5;

/// What the allocator must refuse at the door, and what must be nothing.
enum class mistake : std::uint8_t {
  foreign_pointer,
  inside_a_block,
  wrong_size,
  second_free,
  use_of_a_foreign_pointer,
  too_large,
  no_phase,
  no_bound_mode,
  second_window,      ///< on `on`, which is in one
  join_of_no_window,  ///< by `on`; that, the end and the abort of what is none
  unknown_graph,      ///< a launch and a release of it
  window_forbids,     ///< a prewarm in a window, the end of the stream that it is on
  nothing,            ///< zero bytes, a null pointer: no mistake, and no change
};
inline constexpr std::size_t mistake_count = 13;

/// The nth driver call of its kind from now on answers `with`; `persistent`: all later ones too.
struct planned_fault {
  sim_call call = sim_call::allocate;
  std::uint64_t nth = 1;
  bool persistent = false;
  status with = status::backend_failed;
};

/// One thing that is done, by one actor. It names its block by a number of its own, so that it means the same
/// whatever else is left out of the plan; on a block that is not there it does nothing. Graphs and profiles have
/// numbers as well, each kind its own. Nor does anything what an engine must not do: work in a window that the window
/// cannot record, a launch in one.
struct operation {
  act what = act::end_step;
  std::uint8_t actor = 0;
  std::uint8_t how = 0;
  std::uint32_t block = 0;  ///< or graph, or profile
  std::uint64_t bytes = 0;
  stream on = default_stream;
  stream before = default_stream;
  planned_fault fault{};
};

inline constexpr std::uint32_t actors_max = 4;

/// A run, before anybody runs it: a device, an allocator's options, and what is done. Any subsequence of its
/// operations is a plan as well, which is what makes it shrink.
struct plan {
  sim_options device;
  options settings;
  std::uint32_t actors = 1;
  std::uint32_t read_every = 1;   ///< counters are read after every so many operations: reading hides marks
  bool ends_with_blocks = false;  ///< the allocator is destroyed while blocks are out
  std::vector<operation> operations;
};

}  // namespace arcalloc::testing
