// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/allocator.hpp>
#include <condition_variable>
#include <mutex>

#include "block_table.hpp"
#include "budget.hpp"
#include "dedicated_bins.hpp"
#include "demand.hpp"
#include "graph_pins.hpp"
#include "pending.hpp"
#include "recorder.hpp"
#include "segment_source.hpp"
#include "size_class.hpp"
#include "stream_work.hpp"
#include "thread_registry.hpp"

namespace arcalloc::detail {

class claimed;

/// A request on its way down the ladder.
struct request {
  std::uint64_t bytes = 0;
  stream on = default_stream;
  std::uint64_t class_bytes = 0;
  std::uint64_t block_bytes = 0;     ///< of the block it gets: above 1 MiB its own size; else its class
  std::uint32_t class_index = 0;     ///< where shared or divided
  std::uint64_t segment_bytes = 0;   ///< the least that a miss asks the driver for
  std::uint64_t generous_bytes = 0;  ///< what it asks for first
  segment_use use = segment_use::shared;

  /// The same, without generosity.
  [[nodiscard]] request frugal() const noexcept {
    request same = *this;
    same.generous_bytes = segment_bytes;
    return same;
  }
};

/// A free that says no size; larger than every request.
inline constexpr std::uint64_t any_bytes = UINT64_MAX;

/// A free that names no stream: identity_of gives no stream this value.
inline constexpr stream blocks_own_stream = per_thread_stream;

/// What a free says of its block, beside the handle.
struct free_order {
  const void* address = nullptr;
  std::uint64_t bytes = any_bytes;
  stream on = blocks_own_stream;
};

/// What all threads share: the segments, the bounds, the table of blocks, and the slow way of every call.
///
/// Called by the allocator when a stream cache cannot answer; calls stream caches, the budget, the
/// table and, without its mutex, the segment source. The ladder is in ladder.cpp, giving memory back
/// in trim.cpp, capture windows in capture.cpp, profiles in prewarm.cpp, streams that end in ended_streams.cpp,
/// recording in recording.cpp, readings of the counters in readings.cpp.
///
/// Concurrency: any thread. One mutex guards all of it and is never held across a driver call that may block, but for
/// the destructor's. Under the mutex the calling thread's own record may be touched as it is; any other only through
/// `claimed`.
///
/// Equations: budget.reserved = bytes of all segments in `all_`; each of them is idle, used, or leaving.
class pool : private record_home {
 public:
  using lock = std::unique_lock<std::mutex>;

  pool(backend& device, const options& settings) noexcept;
  ~pool();
  pool(const pool&) = delete;
  pool& operator=(const pool&) = delete;

  /// Measures the device for the derived bound and registers with exiting threads.
  void open() noexcept;

  // Read on the hit path, fixed from creation.
  [[nodiscard]] std::uint64_t id() const noexcept { return identity; }
  [[nodiscard]] const size_classes& classes() const noexcept { return classes_; }
  [[nodiscard]] const block_table& table() const noexcept { return table_; }
  [[nodiscard]] backend& device() const noexcept { return source_.device(); }
  [[nodiscard]] std::uint64_t order() const noexcept { return recorder_.order(); }

  /// A line for people.
  void tell(const char* line) const noexcept {
    if (sink_.write != nullptr) sink_.write(sink_.context, line);
  }

  // The slow way of each call; the comments are at the public functions of allocator.
  [[nodiscard]] status acquire(std::uint64_t bytes, stream on, block_record*& out) noexcept;
  [[nodiscard]] status recycle(block_record* piece, const free_order& order) noexcept;
  [[nodiscard]] status note_use(block_record* piece, const void* address, stream on) noexcept;
  [[nodiscard]] status end_stream(stream on) noexcept;
  [[nodiscard]] status begin_phase(phase next) noexcept;
  [[nodiscard]] status begin_capture(stream on, const capture_options& how) noexcept;
  [[nodiscard]] status join_capture(stream joining, stream capturing) noexcept;
  [[nodiscard]] status end_capture(stream on, graph_id& out) noexcept;
  [[nodiscard]] status abort_capture(stream on) noexcept;
  [[nodiscard]] status note_replay(graph_id id, stream on) noexcept;
  [[nodiscard]] status release_graph(graph_id id) noexcept;
  [[nodiscard]] bool is_capturing(stream on) noexcept;
  std::size_t read_capture_misses(capture_miss_record* out, std::size_t capacity) noexcept;
  [[nodiscard]] status begin_profile() noexcept;
  [[nodiscard]] status end_profile(profile& out) noexcept;
  [[nodiscard]] status prewarm(const profile& wanted, profile* missing) noexcept;
  [[nodiscard]] status verify(const profile& wanted, profile* missing) noexcept;
  void end_step() noexcept;
  [[nodiscard]] status trim(std::uint64_t cached_bytes_target) noexcept;
  [[nodiscard]] status drain() noexcept;
  [[nodiscard]] status set_enabled(bool enabled) noexcept;
  [[nodiscard]] status set_cached_bytes_max(const cached_bound& bound) noexcept;
  [[nodiscard]] status set_capacity_bytes(std::uint64_t bytes) noexcept;
  void read_counters(counters& out) noexcept;
  void read_step_counters(counters& out) noexcept;
  void reset_peaks() noexcept;
  [[nodiscard]] status begin_recording(const recording_sink& into) noexcept;
  [[nodiscard]] status end_recording() noexcept;
  void flush_recording() noexcept;
  [[nodiscard]] recording_state read_recording() noexcept;
  [[nodiscard]] cap_arithmetic read_cap() noexcept;
  [[nodiscard]] failure_record last_failure() noexcept;
  [[nodiscard]] phase current_phase() noexcept;
  [[nodiscard]] status locate(const void* address, segment_extent& out) noexcept;

 private:
  friend class claimed;
  friend class one_change;
  friend class driver_call;
  friend struct auditor;

  using segments = list<segment, &segment::in_all>;
  using departures = list<segment, &segment::in_cache>;
  using records_list = list<thread_record, &thread_record::in_pool>;

  enum class when_busy { wait, skip };             ///< idle segments whose last work is not known to have finished
  enum class look_in { room, unused_runs, both };  ///< the latter are ready for other classes, and taken apart
  enum class may_put_off : bool { no, yes };       ///< to the end of a window: for whoever asked, not for one request
  enum class because { bound, asked };             ///< only what a bound drives out is an eviction

  // pool.cpp
  [[nodiscard]] thread_record* own_record() noexcept;
  [[nodiscard]] stream_cache* cache_of(thread_record& owner, stream on) noexcept;
  [[nodiscard]] request classify(std::uint64_t bytes, stream on) const noexcept;
  [[nodiscard]] request by_class(const request& asked) const noexcept;
  static void retire_record(record_home& self, thread_record& record) noexcept;
  void apply_bypass() noexcept;
  void tick(thread_record& self) noexcept;
  [[nodiscard]] std::uint64_t level_stamps(const claimed& all) noexcept;
  [[nodiscard]] stream stream_of(const block_record& piece) noexcept {
    return piece.pinned() ? pins_.stream_of(piece) : piece.home->home->on;
  }
  [[nodiscard]] block_record* look_up(block_record* piece, const void* address) noexcept;
  [[nodiscard]] status check_free(const block_record* piece, std::uint64_t bytes) noexcept;
  void take_in(thread_record& self, block_record& piece, const graph* in, departures& leaving) noexcept;
  void put_back(block_record& piece, const graph* in, departures& leaving) noexcept;
  [[nodiscard]] bool one_thread() const noexcept { return records_in_use_ <= 1; }
  void count_refusal(status outcome) noexcept;

  [[nodiscard]] status acquire_under(lock& guard, std::uint64_t bytes, stream on, block_record*& out) noexcept;
  [[nodiscard]] status recycle_under(lock& guard, block_record* piece, const free_order& order) noexcept;

  // recording.cpp
  void ready_page(thread_record* own) noexcept {
    if (recorder_.on() && own != nullptr) [[unlikely]]
      ready_page_of(*own);
  }
  void ready_page_of(thread_record& own) noexcept;
  [[nodiscard]] hit_page* take_hits(const claimed& all) noexcept;
  void note_what_is_there(const claimed& all) noexcept;
  void note_refusal(std::uint64_t bytes, stream on, status outcome) noexcept;
  void note_phase(phase entered) noexcept;
  void note_graph(arcalloc_recorded_kind kind, stream on, graph_id graph) noexcept;
  void write_if_due() noexcept {
    if (recorder_.is_due()) [[unlikely]]
      write_noted(recorder_.take_flush_due());
  }
  void write_noted(bool flushes) noexcept;

  // capture.cpp
  [[nodiscard]] bool capturing() const noexcept { return pins_.windows() != 0; }
  void gather(const claimed& all, stream on, stream_cache& into) noexcept;
  [[nodiscard]] bool enter_window(stream on) noexcept;
  void leave_window(graph& window) noexcept;
  void thaw(lock& guard) noexcept;
  void touch(graph& window, block_record& piece, bool crosses) noexcept;
  void unpin(graph& gone, bool replayed, departures& leaving) noexcept;
  void note_capture_miss(const request& asked) noexcept;
  void do_what_was_put_off(lock& guard) noexcept;

  // prewarm.cpp
  enum class may_grow : bool { no, yes };
  [[nodiscard]] status fill(lock& guard, const profile& wanted, may_grow grows, profile* missing) noexcept;
  [[nodiscard]] block_record* hold(lock& guard, thread_record& self, const request& asked, may_grow grows,
                                   std::uint64_t& held_bytes, status& refused) noexcept;
  void note_profiled(block_record& piece, const request& asked) noexcept;

  // ended_streams.cpp
  [[nodiscard]] bool is_on(stream on) const noexcept;
  [[nodiscard]] status end(stream on) noexcept;
  [[nodiscard]] stream spare_former(const claimed& all) noexcept;
  [[nodiscard]] stream_cache* common_cache(stream on) noexcept { return cache_of(common_, on); }
  void rehome(const claimed& all, stream from, stream to, stream_cache& under) noexcept;
  [[nodiscard]] status wait_for_former(lock& guard, stream former) noexcept;

  // readings.cpp
  void read(const claimed& all, counters& out) noexcept;
  void fill(const claimed& all, counters& out) noexcept;
  void sample(const claimed& all) noexcept;
  void sample_beside_others() noexcept;
  void restart_marks(const claimed& all) noexcept;
  [[nodiscard]] std::uint64_t idle_classes(const claimed& all) noexcept;
  [[nodiscard]] std::uint64_t cut_classes() noexcept;
  [[nodiscard]] std::uint64_t largest_idle(const claimed& all) noexcept;
  template <class Field>
  [[nodiscard]] auto sum(Field thread_stats::*field) const noexcept;
  /// Of all records: cached bytes. Requires: other threads are claimed.
  [[nodiscard]] std::uint64_t idle_bytes() const noexcept;
  /// The same, claiming them for it.
  [[nodiscard]] std::uint64_t idle_of_all() noexcept;

  // ladder.cpp
  [[nodiscard]] status answer(const request& asked, block_record& piece, std::uint64_t& rung) noexcept;
  [[nodiscard]] status climb(lock& guard, thread_record& self, const request& asked, block_record*& out) noexcept;
  [[nodiscard]] block_record* search_pins(graph& window, thread_record& self, const request& asked) noexcept;
  [[nodiscard]] block_record* from_larger(graph& window, thread_record& self, const request& asked) noexcept;
  [[nodiscard]] block_record* from_stream_cache(thread_record& self, const request& asked, look_in where) noexcept;
  [[nodiscard]] block_record* take_out(thread_record& self, segment& single, const request& asked) noexcept;
  [[nodiscard]] block_record* from_dedicated(thread_record& self, const request& asked) noexcept;
  /// One segment, one block, by its size: what the geometry `exact` does to every block is no such thing.
  [[nodiscard]] bool is_large(const request& asked) const noexcept {
    return asked.use == segment_use::dedicated && classes_.shared_max() != 0;
  }
  [[nodiscard]] block_record* from_oversize(thread_record& self, const request& asked) noexcept;
  [[nodiscard]] block_record* from_pool(thread_record& self, const request& asked) noexcept;
  [[nodiscard]] bool adopt(thread_record& self, const request& asked) noexcept;
  [[nodiscard]] block_record* search(thread_record& self, const request& asked, std::uint64_t*& rung) noexcept;
  [[nodiscard]] block_record* from_other_stream(thread_record& self, const request& asked) noexcept;
  [[nodiscard]] bool adopt_across(const claimed& all, thread_record& self, const request& asked) noexcept;
  void reclaim(lock& guard) noexcept;
  [[nodiscard]] block_record* after_waiting(lock& guard, thread_record& self, const request& asked) noexcept;
  [[nodiscard]] noted_block* best_pending(const request& asked) noexcept;
  [[nodiscard]] const segment* best_busy(const claimed& all, const request& asked) noexcept;
  [[nodiscard]] block_record* hand_out(thread_record& self, stream_cache& cache, const request& asked,
                                       look_in where) noexcept;
  [[nodiscard]] block_record* hand_out(thread_record& self, segment& single, const request& asked) noexcept;
  [[nodiscard]] status grow(lock& guard, thread_record& self, const request& asked, block_record*& out) noexcept;
  [[nodiscard]] status borrow(lock& guard, segment& fresh, std::uint64_t bytes, stream on) noexcept;
  [[nodiscard]] std::uint64_t segment_bytes_for(segment_use use, std::uint64_t block_bytes) const noexcept;
  [[nodiscard]] std::uint64_t generous_bytes_for(const request& asked) const noexcept;
  [[nodiscard]] bool as_tight(const request& asked, request& tight) const noexcept;
  void evict(lock& guard, std::uint64_t bytes) noexcept;
  void make_room(lock& guard, const request& asked, status refused) noexcept;
  void make_way(lock& guard, std::uint64_t bytes) noexcept;
  void record_failure(lock& guard, const request& asked, status outcome) noexcept;

  // trim.cpp
  [[nodiscard]] bool covered(thread_record& record) noexcept;
  void obey_cached_max(lock& guard) noexcept;
  void collect_idle(const claimed& all, std::uint64_t bytes, when_busy busy, departures& out) noexcept;
  [[nodiscard]] segment* coldest_idle(const claimed& all, stream_cache*& holder, when_busy busy) noexcept;
  void detach(segment& home, departures& out) noexcept;
  void retry_stuck(departures& out) noexcept;
  [[nodiscard]] status send_off(lock& guard, departures& leaving, because why) noexcept;
  [[nodiscard]] status give_back(lock& guard, std::uint64_t cached_bytes_target, when_busy busy,
                                 may_put_off later = may_put_off::yes) noexcept;
  void await_departures(lock& guard) noexcept;
  void settle_passed(const claimed& all, departures& leaving) noexcept;
  void wait_for_pending(lock& guard, noted_block& block) noexcept;
  [[nodiscard]] bool work_finished(const claimed& all, const segment& home) noexcept;
  [[nodiscard]] status wait_for_work(lock& guard, stream on) noexcept;
  [[nodiscard]] status wait_unlocked(lock& guard, event point) noexcept;
  [[nodiscard]] status query_unlocked(lock& guard, memory_info& out) noexcept;
  void level_leases(const claimed& all) noexcept;
  void note_eviction(const segment& gone) noexcept;
  void note_growth(std::uint64_t segment_bytes) noexcept;
  void measure(lock& guard) noexcept;
  [[nodiscard]] bool measure_due() const noexcept;
  void set_bound(lock& guard) noexcept;

  // Read on the hit path, and so in no cache line with what the slow ways write.
  size_classes classes_;
  block_table table_;

  alignas(128) mutable std::mutex mutex_;
  arena memory_;
  segment_source source_;
  record_store records_of_blocks_;
  budget budget_;
  dedicated_bins dedicated_;
  stream_works works_;
  pending pending_;
  graph_pins pins_;
  demand demand_;
  recorder recorder_;

  // settings and phase
  cached_bound bound_;
  bool enabled_;
  bool cache_in_prefill_;
  bool oom_retry_;
  capture_policy capture_miss_;
  bool bypass_ = false;
  phase phase_ = phase::mixed;
  std::uint32_t stats_every_steps_;
  text_sink sink_;

  // threads
  const bool with_membarrier_;
  records_list records_;
  std::uint32_t records_in_use_ = 0;
  thread_record common_;  ///< idle segments of one block, and threads the host had no record for
  std::uint64_t epoch_ = 0;

  // segments
  segments all_;
  std::uint32_t segments_for_[shared_classes_max] = {};  ///< of those in all_, how many were asked for by each class
  departures stuck_;
  bool beyond_lease_ = false;  ///< some record has more idle than its lease; obeyed before the call ends
  std::uint64_t drain_turn_ = 0;
  std::uint64_t former_streams_ = 0;  ///< the highest number of a former stream so far
  std::uint64_t leaving_bytes_ = 0;   ///< detached, the driver has not answered yet
  std::uint64_t left_bytes_ = 0;      ///< detached, the driver has answered, since creation
  std::condition_variable left_;      ///< left_bytes_ has grown, or a window puts off what is leaving
  std::uint64_t single_blocks_ = 0;   ///< segments of one block, live or idle
  std::uint64_t oversize_bytes_ = 0;  ///< of all segments

  // counts of the slow ways, gauges and peaks; see readings.cpp
  counters tally_{};
  counters step_start_{};
  counters step_window_{};
  counters report_start_{};
  failure_record failure_{};

  // capture windows: what they put off, and who must be out of the driver before one opens
  struct put_off {
    std::uint64_t trim_target = UINT64_MAX;
    bool drain = false;
    bool eviction = false;
    bool measurement = false;
    departures leaving{};
  };
  put_off put_off_{};
  std::uint32_t forbidden_calls_ = 0;
  std::condition_variable forbidden_calls_over_;
  struct noted_miss {
    capture_miss_record miss{};
    noted_miss* next = nullptr;
  };
  noted_miss* capture_misses_ = nullptr;  ///< newest first
  noted_miss* spare_misses_ = nullptr;

  // what was evicted lately, for thrash
  struct departed {
    std::uint64_t segment_bytes = 0;
    std::uint64_t step = 0;
  };
  static constexpr std::uint32_t departed_max = 64;
  departed departed_[departed_max];
  std::uint32_t departed_next_ = 0;
  std::uint64_t cached_bytes_max_wanted_ = 0;  ///< since the bound was set
  std::uint64_t measured_step_ = 0;
};

/// Holds every other thread outside its stream caches while it lives. Costs one membarrier, and
/// nothing while a single thread uses the allocator. Requires: the pool's mutex is held throughout.
class claimed {
 public:
  explicit claimed(pool& shared) noexcept;
  ~claimed();
  claimed(const claimed&) = delete;
  claimed& operator=(const claimed&) = delete;

 private:
  pool& pool_;
  thread_record* own_;
};

/// Lets go of the mutex for a driver call that a capture window forbids. Requires: no window is open. A window
/// that opens meanwhile waits for its end.
class driver_call {
 public:
  driver_call(pool& shared, pool::lock& guard) noexcept;
  ~driver_call();
  driver_call(const driver_call&) = delete;
  driver_call& operator=(const driver_call&) = delete;

 private:
  pool& pool_;
  pool::lock& guard_;
};

/// One call's slow way, as the peaks see it: what happens inside is one change, from the state at its
/// start to the state at its end. Keeps the marks of a single thread exact. Requires: the pool's mutex.
class one_change {
 public:
  explicit one_change(pool& shared) noexcept;
  ~one_change();
  one_change(const one_change&) = delete;
  one_change& operator=(const one_change&) = delete;

 private:
  pool& pool_;
};

}  // namespace arcalloc::detail
