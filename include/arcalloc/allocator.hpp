// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <arcalloc/backend.hpp>
#include <arcalloc/capture.hpp>
#include <arcalloc/counters.hpp>
#include <arcalloc/options.hpp>
#include <arcalloc/phase.hpp>
#include <arcalloc/profile.hpp>
#include <arcalloc/recording.hpp>
#include <arcalloc/status.hpp>

namespace arcalloc {

class allocator;

namespace detail {
struct auditor;
struct block_record;
class pool;

/// What a call needs before anything else: the pool, and its identity, which unlike its address is never used twice.
struct door {
  pool* shared;
  std::uint64_t identity;
};
[[nodiscard]] const door& door_of(const allocator& of) noexcept;
}  // namespace detail

/// Every block starts at a multiple of this many bytes.
inline constexpr std::size_t block_alignment = 512;

/// The largest request, in bytes.
inline constexpr std::uint64_t request_bytes_max = std::uint64_t{1} << 47;

/// One piece of device memory, as handed out. Copy it freely; it is spent once it is freed. A
/// value-initialised block is no block: null, and freeing it does nothing.
class block {
 public:
  [[nodiscard]] void* data() const noexcept { return address_; }
  [[nodiscard]] explicit operator bool() const noexcept { return address_ != nullptr; }

 private:
  friend class allocator;
  void* address_ = nullptr;
  void* record_ = nullptr;
};

/// The segment behind a pointer, for engines that share or register device memory.
struct segment_extent {
  void* base = nullptr;
  std::uint64_t bytes = 0;
  std::uint64_t offset_bytes = 0;
};

/// How the bound on cached bytes was found, with its arithmetic:
/// derived = min(1 GiB, (free - reserve) / 2), reserve = min(256 MiB, free / 4),
/// free = the driver's free + our cached. Bytes.
struct cap_arithmetic {
  std::uint64_t cached_bytes_max = 0;
  std::uint64_t cap_source = 0;  ///< arcalloc_cap_source
  std::uint64_t driver_free_bytes = 0;
  std::uint64_t own_cached_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t reserve_bytes = 0;
  status query = status::ok;  ///< what the last memory query answered
  /// Where the cache thrashes: the bound that would have kept what was evicted and wanted again; else 0.
  std::uint64_t cached_bytes_max_wanted = 0;
};

/// The last refusal by the ladder, term by term. Bytes.
struct failure_record {
  status outcome = status::ok;  ///< ok: none so far
  std::uint64_t requested_bytes = 0;
  std::uint64_t class_bytes = 0;
  stream on = default_stream;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t pending_bytes = 0;
  std::uint64_t cached_bytes = 0;
  std::uint64_t slack_bytes = 0;
  std::uint64_t pinned_bytes = 0;
  std::uint64_t stuck_bytes = 0;
  std::uint64_t reserved_bytes = 0;
  std::uint64_t cached_bytes_max = 0;
  std::uint64_t capacity_bytes = 0;
  std::uint64_t driver_free_bytes = 0;  ///< ARCALLOC_NO_BOUND where the driver would not say
  std::uint64_t largest_idle_bytes = 0;
};

/// One line for people: every field of the record. Returns the length written, without a newline.
std::size_t format_failure(const failure_record& record, char* text, std::size_t capacity) noexcept;

/// A bounded caching allocator for the memory of one device.
///
/// Called by an engine for every tensor; calls the backend only when nothing it holds will do.
/// Concurrency: every function from any thread, except the destructor. A hit in the thread's own cache takes no lock.
/// Keeps: cached_bytes <= cached_bytes_max after every call (of a capture window: after its end), reserved_bytes <=
/// capacity_bytes at every instant, and the identities stated at arcalloc_counters.
/// Cost: a hit is a pop from the calling thread's cache for the stream; a miss is a driver call.
/// It does not throw, print (but through options::sink), start threads, or touch the memory.
class allocator {
 public:
  /// Makes an allocator over `device`, which must outlive it. invalid_argument when an option is out
  /// of range (a stats sink missing is not: nothing is reported then); backend_failed when host
  /// memory for bookkeeping is not to be had. Arms the derived bound.
  [[nodiscard]] static status create(backend& device, const options& settings, allocator*& out) noexcept;

  /// Gives every segment back to the driver, live blocks included: they and their handles die with their
  /// allocator, and no allocator may be told of them afterwards.
  static void destroy(allocator* self) noexcept;

  allocator(const allocator&) = delete;
  allocator& operator=(const allocator&) = delete;

  /// Hands out at least `bytes` for work on `on`, aligned to block_alignment. Zero bytes: `ok` and a
  /// null block. On any other status `out` is null, live blocks and bounds are as before, and for a
  /// refusal by the ladder last_failure() has the details.
  [[nodiscard]] status allocate(std::size_t bytes, stream on, block& out) noexcept;

  /// Takes a block back; work enqueued on its own stream before this call may still use it. A null
  /// block is `ok`. backend_failed when an event that it needs cannot be recorded: the block is live as before.
  /// `double_free` when it is idle already, `unknown_pointer` when it is not ours.
  [[nodiscard]] status deallocate(const block& piece) noexcept;

  /// The same, ordered on stream `on`. Where that is not the block's own, it implies note_use there.
  [[nodiscard]] status deallocate(const block& piece, stream on) noexcept;
  [[nodiscard]] status deallocate(void* address, stream on) noexcept;

  /// Says that work on `on`, another stream than the block's own, uses the block. When it is freed, an
  /// event is recorded on `on`, and the block is pending until that has passed. Statuses as deallocate.
  [[nodiscard]] status note_use(const block& piece, stream on) noexcept;
  [[nodiscard]] status note_use(void* address, stream on) noexcept;

  /// The same by address: costs one lookup. A null pointer is `ok`. `unknown_pointer` unless it is
  /// the start of a block.
  [[nodiscard]] status deallocate(void* address) noexcept;

  /// The same, and `invalid_argument` unless the block was requested with exactly `bytes`.
  [[nodiscard]] status deallocate(void* address, std::size_t bytes) noexcept;

  /// Says that the stream goes away: called before the driver destroys it, after the last work was enqueued there.
  /// Its memory, idle, live and to come, is for every other stream once that work has finished, and the value
  /// `on` may mean another stream from now on. Blocks still out are freed without naming a stream. Costs one
  /// event; never waits. On the driver's failure its status, and nothing has changed: the stream has not ended.
  /// A thread's own default stream ends by itself when the thread exits.
  [[nodiscard]] status end_stream(stream on) noexcept;

  // Capture windows. The calls bracket those of the driver: begin_capture before the driver's, end_capture and
  // abort_capture after it. While any window is open nothing is freed to the driver, no event is queried and
  // nothing is waited for, on any thread: what is wanted of that is done when the last window closes. Whatever
  // these calls answer, a stream is in a window afterwards only where begin_capture or join_capture said ok.

  /// Opens a window on `on`. Every block that it touches is pinned for the graph: requested or freed on its
  /// streams, or named by note_use there. invalid_argument when `on` is in a window already or an option is out of
  /// range. Waits until other threads are out of the driver calls that a capture forbids.
  [[nodiscard]] status begin_capture(stream on, const capture_options& how = {}) noexcept;

  /// `joining` waits on `capturing`, so its work is part of the same graph until the window closes.
  /// invalid_argument when `capturing` is in no window or `joining` in another one; ok when it has joined already.
  [[nodiscard]] status join_capture(stream joining, stream capturing) noexcept;

  /// Closes the window that began on `on`: what it touched is pinned for `graph` until release_graph. What the
  /// window put off is done now. invalid_argument, and graph_id::none, when no window began there.
  [[nodiscard]] status end_capture(stream on, graph_id& graph) noexcept;

  /// Closes it without a graph: nothing is pinned for it any more, and live blocks stay with their callers.
  /// backend_failed when the host has no memory: the window is closed, and what it touched stays pinned.
  [[nodiscard]] status abort_capture(stream on) noexcept;

  /// Says that the graph was launched on `on`. Where that is not the stream of the capture, a release
  /// waits for it. invalid_argument for a graph that is not there.
  [[nodiscard]] status note_replay(graph_id graph, stream on) noexcept;

  /// The graph is not launched again: what only it pinned is idle memory, after the last launch that was noted.
  /// It waits only where the cached max must be obeyed at once. invalid_argument for a graph that is not there.
  [[nodiscard]] status release_graph(graph_id graph) noexcept;

  /// True while `on` is in a window.
  [[nodiscard]] bool is_capturing(stream on) const noexcept;

  /// What missed in the window that is open, or in the last one: at most `capacity` records are written. Returns how
  /// many there are.
  std::size_t read_capture_misses(capture_miss_record* out, std::size_t capacity) const noexcept;

  // Recordings: every request, free, use, step, phase, capture and refusal as an event, and what the driver lent and
  // got back. Not recorded: calls refused at the door but for requests, prewarms, and changed settings.

  /// Events go to `into` from now on, those that tell of live blocks first. A hit notes what it did, and still takes
  /// no lock; the thread that fills its page writes for all and waits. The order of events is one in which they can
  /// have happened. invalid_argument while recording, and without a function to write with.
  [[nodiscard]] status begin_recording(const recording_sink& into) noexcept;

  /// The same into a file in the trace format, which is emptied; into `path.2` and so on where another recording writes
  /// that. invalid_argument where it cannot be written; options::sink (if any) is told why.
  [[nodiscard]] status record_to(const char* path) noexcept;

  /// Writes what has been noted: by itself this happens when a thread's page is full, at the first step after a quarter
  /// of a second, when a thread exits, and when the process ends by exit or a return from main. A process that dies
  /// otherwise loses what came after that, and the file is readable up to there.
  void flush_recording() noexcept;

  /// Writes the rest and closes the sink. backend_failed where events were lost, else what the sink said;
  /// invalid_argument where nothing is recorded. An allocator that is destroyed does this itself.
  [[nodiscard]] status end_recording() noexcept;

  [[nodiscard]] recording_state read_recording() const noexcept;

  // Prewarm profiles.

  /// Records from now on, per stream and class, the most blocks out at once of those requested meanwhile. Until
  /// end_profile every call takes the slow way. invalid_argument while one is recorded.
  [[nodiscard]] status begin_profile() noexcept;
  [[nodiscard]] status end_profile(profile& out) noexcept;

  /// Fills the cache until a request for every block of the profile, all out at once, would hit. Within the
  /// bounds: capacity_exceeded when a bound stops it, else the driver's status; what is there by then stays, and
  /// `missing` (if any) receives what is short. invalid_argument in a capture window.
  [[nodiscard]] status prewarm(const profile& wanted, profile* missing = nullptr) noexcept;

  /// Whether the profile's blocks, all out at once, would hit: ok; else `missing` (if any) receives what is short, and
  /// the answer is capture_miss, or capacity_exceeded where no prewarm within the bounds could help. Asks nothing of
  /// the driver; idle memory counts as used just now afterwards. In a capture window it answers for that.
  [[nodiscard]] status verify(const profile& wanted, profile* missing = nullptr) const noexcept;

  /// Enters a phase; see enter_phase for what happens. Entering the current phase does nothing.
  [[nodiscard]] status begin_phase(phase next) noexcept;

  /// Ends a decode step: closes the counters' window, and reports every stats_every_steps steps.
  void end_step() noexcept;

  /// Gives idle memory back until cached_bytes is at most `cached_bytes_target`, coldest first, and
  /// no more than needed. Does not wait for cached or pending memory: segments whose work has not finished stay. Where
  /// a driver free fails, its status: the segment is stuck, counted, and retried at the next trim.
  [[nodiscard]] status trim(std::uint64_t cached_bytes_target) noexcept;

  /// Gives back all idle memory, and waits for pending work to do so: cached_bytes is 0 afterwards. As trim
  /// where a driver free fails.
  [[nodiscard]] status drain() noexcept;

  /// Switches the cache on, or off with a drain. Blocks out at that moment stay valid.
  [[nodiscard]] status set_enabled(bool enabled) noexcept;

  /// Sets the bound on cached bytes, and obeys it before returning.
  [[nodiscard]] status set_cached_bytes_max(const cached_bound& bound) noexcept;

  /// Sets the bound on reserved bytes (0 = none), evicting to obey it. capacity_exceeded, and no
  /// change, when live blocks stand in the way.
  [[nodiscard]] status set_capacity_bytes(std::uint64_t bytes) noexcept;

  /// A consistent picture of all threads, at the cost of stopping each for a moment.
  void read_counters(counters& out) const noexcept;

  /// The last closed step window.
  void read_step_counters(counters& out) const noexcept;

  /// Sets every peak to the present value; resets nothing else.
  void reset_peaks() noexcept;

  [[nodiscard]] cap_arithmetic read_cap() const noexcept;
  [[nodiscard]] failure_record last_failure() const noexcept;
  [[nodiscard]] phase current_phase() const noexcept;
  [[nodiscard]] backend& device() const noexcept;

  /// Base, size and offset of the segment that `address` lies in; unknown_pointer if in none.
  [[nodiscard]] status locate(const void* address, segment_extent& out) const noexcept;

 private:
  friend struct detail::auditor;  // walks every segment, in tests

  friend const detail::door& detail::door_of(const allocator& of) noexcept;

  explicit allocator(const detail::door& way) noexcept : way_(way) {}
  ~allocator() = default;
  [[nodiscard]] static detail::block_record& record_of(const block& piece) noexcept;

  detail::door way_;
};

/// Owns an allocator: `allocator_ptr own{raw}` after allocator::create.
struct allocator_destroyer {
  void operator()(allocator* self) const noexcept { allocator::destroy(self); }
};
using allocator_ptr = std::unique_ptr<allocator, allocator_destroyer>;

}  // namespace arcalloc
