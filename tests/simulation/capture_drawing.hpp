// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <vector>

#include "plan.hpp"

namespace arcalloc::testing {

inline constexpr std::uint64_t streams_drawn = 4;

/// Draws what has to do with captures: windows, graphs, profiles, streams that end. Part of draw_plan.
///
/// It takes what it drew to be done: a window is open until its end or abort is drawn, however the run goes.
/// Now and then it draws a whole verified window: a profile is recorded, prewarmed and verified, and a window asks for
/// the same.
class capture_drawer {
 public:
  explicit capture_drawer(std::mt19937_64& random) : random_(random) {}

  /// Sets what windows are drawn over; weights are by act, and those of captures are 0 where there are none.
  void draw_world(plan& made);
  void draw_weights(std::uint32_t* weights);

  /// Where the next request goes: mostly to a stream in a window, while there is one; else `otherwise`.
  [[nodiscard]] stream stream_of_request(stream otherwise);
  /// A wait was drawn.
  void note_wait(operation& drawn);

  /// Fills in an operation of one of these kinds. False where there is nothing that it could be about.
  [[nodiscard]] bool fill(operation& next, const std::function<std::uint64_t()>& draw_size, std::uint32_t& last_block);
  /// What a verified window still has to do, in its order.
  [[nodiscard]] bool next_of_burst(operation& next);

 private:
  struct drawn_window {
    stream began_on = default_stream;
    std::vector<stream> joined;
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  [[nodiscard]] bool is_in_window(stream on) const;
  bool fill_begin(operation& next);
  bool fill_close(operation& next);
  bool fill_graph(operation& next);
  void draw_burst(const operation& first, const std::function<std::uint64_t()>& draw_size, std::uint32_t& last_block);

  std::mt19937_64& random_;
  bool captures_ = false;
  bool ends_streams_ = false;
  std::vector<drawn_window> windows_;
  std::vector<std::uint32_t> graphs_;
  std::vector<operation> burst_;  ///< the next is the last
  std::uint32_t last_graph_ = 0;
  std::uint32_t last_profile_ = 0;
  std::uint32_t streams_ended_ = 0;
};

}  // namespace arcalloc::testing
