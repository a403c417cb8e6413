// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/counters.hpp>
#include <functional>
#include <vector>

#include "decode/load.hpp"
#include "decode/serving_report.hpp"

namespace arcalloc::decode {

/// What a step took of virtual time.
struct step_times {
  std::uint64_t step_ns;
  std::uint64_t driver_ns;  ///< of these, in the driver's calls
};

/// Divides served traffic into windows of virtual time, and says what each of them saw.
///
/// Called by run_load after each step. A step belongs to the window in which it began. Memory is read where a step
/// called the driver, since reserved changes nowhere else, once a second of virtual time besides, and where the last
/// sequence left: a step costs nothing to watch otherwise. Concurrency: one thread.
class serving_watch {
 public:
  /// `read` gives the counters of all ranks together.
  serving_watch(std::uint64_t window_s, std::function<counters()> read);

  void begin();
  /// `now_ns` is served time after the step.
  void add(const load_step& taken, const step_times& times, std::uint64_t now_ns);
  /// Nothing to do until `now_ns`.
  void wait(std::uint64_t from_ns, std::uint64_t now_ns);

  [[nodiscard]] serving_report finish(std::uint64_t now_ns);

 private:
  void look();
  void close(std::uint64_t end_ns);
  void close_until(std::uint64_t now_ns);

  std::uint64_t window_ns_;
  std::function<counters()> read_;
  serving_report report_;
  serving_window window_;
  counters at_window_start_{};
  std::vector<std::uint64_t> step_ns_;   ///< of the window
  std::vector<std::uint64_t> pause_ns_;  ///< of the window, without zeros
  std::uint64_t window_end_ns_;
  std::uint64_t next_look_ns_ = 0;
  bool has_looked_ = false;  ///< in the window
  bool is_idle_ = true;      ///< no sequence is there
};

/// Of `of_all` values, of which `values` are those above 0, the least that 99 in a hundred do not exceed. Sorts them.
[[nodiscard]] std::uint64_t percentile_99(std::vector<std::uint64_t>& values, std::uint64_t of_all);

}  // namespace arcalloc::decode
