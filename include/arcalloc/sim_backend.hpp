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
};

/// The calls a fault can be planned for.
enum class sim_call : std::uint8_t { allocate, free, record_event, query_event, wait_event, query_memory };

/// A simulated device that convicts whoever misuses it.
///
/// The allocator under test sees a backend; the test, or a scenario, plays the engine: it enqueues
/// work on streams, holds streams busy, and asks for the verdict. Time is virtual: calls add their cost
/// to one clock, and nothing else does. No wall clock, no threads of its own, no order that depends on
/// addresses: the same calls give the same answers everywhere.
/// Concurrency: any thread; one mutex. (What it answers then depends on their order, as on any device.)
/// Convicts, with a sentence each: two lent ranges that overlap in use, work on memory that is not
/// lent, work on a range by two streams that are not ordered, a foreign or second free, a free with
/// the wrong size, a free while work on the range is unfinished, a call that is illegal while a
/// capture is open, an event that is unknown or dropped twice, a size that is no multiple of the
/// granule, and at the end what was never freed.
class sim_backend final : public backend {
 public:
  explicit sim_backend(const sim_options& settings = {});
  ~sim_backend() override;

  [[nodiscard]] const char* name() const noexcept override { return "sim"; }
  [[nodiscard]] std::size_t granularity() const noexcept override;
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override;
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override;
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override;
  [[nodiscard]] status record_event(stream on, event& out) noexcept override;
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override;
  [[nodiscard]] status wait_event(event point) noexcept override;
  void drop_event(event point) noexcept override;

  /// Enqueues work on `on` that reads and writes [address, address + bytes). It is finished at once
  /// unless the stream is busy or ordered after unfinished work of a busy one.
  void use(stream on, const void* address, std::uint64_t bytes);

  /// The caller's block changed hands: whoever used the range before must be finished or ordered before
  /// what `on` does with it from now on. Called by the test when the allocator hands the range out.
  void handed_out(stream on, const void* address, std::uint64_t bytes);

  /// All work on the stream, earlier or later, stays unfinished until finish() or a wait_event that needs it.
  void busy(stream on);
  void finish(stream on);

  /// Work that `later` enqueues from now on is ordered after what `earlier` has enqueued so far.
  void wait(stream later, stream earlier);

  /// A capture window on the stream: free, query_event, wait_event and query_memory are illegal for all
  /// while any is open, allocate is illegal on the capturing stream.
  void begin_capture(stream on);
  void end_capture(stream on);

  void set_others_bytes(std::uint64_t bytes);

  /// The nth call of this kind from now on (1: the next) answers `with`; with `persistent` all later ones too.
  void plan_fault(sim_call call, std::uint64_t nth, bool persistent, status with);

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
