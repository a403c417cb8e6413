// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <arcalloc/backend.hpp>

namespace arcalloc {

/// A device that exists in numbers only: what it has, what its calls cost, what others take of it.
struct sim_options {
  std::uint64_t memory_bytes = std::uint64_t{24} << 30;
  std::uint64_t others_bytes = 0;  ///< taken by other processes
  std::size_t granularity = 512;   ///< a power of two
  std::uint64_t allocate_ns = 50'000;
  std::uint64_t free_ns = 100'000;
  std::uint64_t event_ns = 1'000;  ///< each of record, query
  bool allocates_beside_capture = true;
  bool synchronous = false;  ///< work is over when the call that enqueues it returns, or as good as over: see backend
};

/// A captured graph, as the device knows it. Numbers are not used twice.
enum class sim_graph : std::uint64_t { none = 0 };

/// The calls a fault can be planned for.
enum class sim_call : std::uint8_t { allocate, free, record_event, query_event, wait_event, query_memory };

/// A simulated device that convicts whoever misuses it.
///
/// The allocator under test sees a backend; the test, or a scenario, plays the engine: it enqueues
/// work on streams, holds streams busy, says which blocks came and went, and asks for the verdict.
/// Time is virtual: calls add their cost to one clock, and nothing else does. No wall clock, no threads
/// of its own, no order that depends on addresses of this process: the same calls give the same answers
/// everywhere. Addresses are numbers that nobody may follow; a range given back is lent again first.
/// Concurrency: any thread; one mutex. (What it answers then depends on their order, as on any device.)
/// Convicts, with a sentence each, of: a block handed out over one still out; work on memory, or a block
/// in memory, that is not lent; a block handed to a stream that nothing orders after the former work on it;
/// a foreign or second free, a wrong size, a free of memory with unfinished work or a block still out; a call that
/// is illegal while a capture is open; an event that is unknown, or used after it was dropped; a size that is no
/// multiple of the granule; more lent than the capacity; and when asked, what was never given back.
/// Work in a capture is not done, but recorded: a launch of the graph does it. Memory it touches is known by the block
/// that was out there; until the graph is forgotten (or the capture aborted) it convicts of handing out another block
/// there, and at a launch of memory that went to the driver, and of another block that is out there. Blocks handed out
/// in the same capture, or in one of the same group, are right: but within a capture, nothing is finished, and a block
/// goes on to streams that are ordered after the captured work on it alone. It does not judge the engine's own order:
/// streams that share a block, and where it launches a graph, are its business. Cost: for a call on memory, the ranges
/// lent and the uses noted on one; for a hand-over, streams squared, and for each graph its uses there; for a launch,
/// the uses of the graph.
class sim_backend final : public backend {
 public:
  explicit sim_backend(const sim_options& settings = {});
  ~sim_backend() override;

  // A call that is convicted of more than unfinished work, a block still out or the capacity is refused and changes
  // nothing else: backend_failed where a capture is open, invalid_argument otherwise.
  [[nodiscard]] const char* name() const noexcept override { return "sim"; }
  [[nodiscard]] std::size_t granularity() const noexcept override;
  [[nodiscard]] bool synchronous() const noexcept override;
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  /// For faults, costs and calls() this is a sim_call::allocate.
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;

  /// Enqueues work on `on` that reads and writes [address, address + bytes). It is finished at once
  /// unless the stream is busy or ordered after unfinished work of a busy one.
  void use(stream on, const void* address, std::uint64_t bytes);

  /// The allocator handed this block out for work on `on`: no part of it may be out already, and all work
  /// on it so far must be finished or ordered before what `on` does from now on. Nothing for zero bytes.
  void handed_out(stream on, const void* address, std::uint64_t bytes);

  /// The engine is done with the block it was handed at `address`. Called before the allocator is told, since
  /// from then on the range may go to the driver or, on another thread, to somebody else. Its work may be unfinished.
  void handed_back(const void* address);

  /// The allocator refused the free of the block that was handed back last: it is out as if it had never been.
  void still_out(const void* address);

  /// Something runs on the stream that does not end: it and all work there, earlier work too unless it was
  /// seen to have finished, stays unfinished until finish(). A wait_event finishes what is before its event,
  /// on every stream, and nothing later.
  void busy(stream on);
  /// Nothing for a stream that is not busy.
  void finish(stream on);

  /// Work that `later` enqueues from now on is ordered after what `earlier` has enqueued so far. Where
  /// `earlier` is in a capture, `later` joins it, and the order is that of captured work alone. A stream in a
  /// capture cannot wait for one that is not in it.
  void wait(stream later, stream earlier);

  /// A capture window on the stream: free, query_event, wait_event and query_memory are illegal for all
  /// while any is open, allocate and record_event are illegal on a stream of a capture. A group other than 0
  /// says that its graph and others of that group are never run at once.
  void begin_capture(stream on, std::uint64_t group = 0);

  /// Closes the capture that began there: what it recorded is a graph, or nothing.
  [[nodiscard]] sim_graph end_capture(stream on);
  void abort_capture(stream on);

  /// Enqueues the graph's work on `on`, which is in no capture: a use of every range that it touches.
  void launch_graph(sim_graph graph, stream on);

  /// The engine destroyed it. What was launched before is still work.
  void forget_graph(sim_graph graph);

  void set_others_bytes(std::uint64_t bytes);

  /// The nth call of this kind from now on (1: the next) answers `with`; with `persistent` all later ones too.
  /// Of several plans for one call the latest decides; `ok` plans that it succeeds.
  void plan_fault(sim_call call, std::uint64_t nth, bool persistent, status with);

  /// From now on about one in `one_in` calls of this kind answers `with`: which ones follows from `seed` and the
  /// number of the call alone. Planned by number goes before by seed. 0 ends it.
  void plan_faults_by_seed(sim_call call, std::uint64_t seed, std::uint64_t one_in, status with);

  /// A bound the test knows: lending beyond it, even for an instant, is a conviction.
  void set_capacity_bytes(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t now_ns() const;
  [[nodiscard]] std::uint64_t calls(sim_call call) const;
  [[nodiscard]] std::uint64_t lent_bytes() const;
  [[nodiscard]] std::uint64_t lent_bytes_peak() const;

  /// A hash over every call and its answer so far: two runs of one seed agree.
  [[nodiscard]] std::uint64_t history_hash() const;

  /// The verdict so far, in order; empty is innocent.
  [[nodiscard]] std::vector<std::string> convictions() const;

  /// Convicts of every range still lent, and every event not dropped.
  void convict_leaks();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace arcalloc
