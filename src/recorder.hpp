// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <arcalloc/recording.hpp>
#include <arcalloc/status.hpp>
#include <atomic>
#include <mutex>

#include "arena.hpp"

namespace arcalloc::detail {

/// What the slow ways noted, in order.
struct event_page {
  static constexpr std::uint32_t capacity = 256;

  event_page* next = nullptr;
  std::uint32_t count = 0;
  std::uint32_t delivered = 0;
  recorded_event events[capacity];

  [[nodiscard]] bool is_full() const noexcept { return count == capacity; }
  /// As if new, but for the events: what is beyond `count` is not looked at.
  void clear() noexcept {
    next = nullptr;
    count = delivered = 0;
  }
};

/// Hits of one thread that follow each other, as it noted them.
struct noted_hits {
  std::uint64_t time_ns;  ///< of the first; 0 where the clock was not read for it
  std::uint64_t stream;
  std::uint64_t base;
  const std::uint32_t* notes;  ///< of each: steps of 512 bytes from the base to its block, doubled; one more if a free
  const std::uint32_t* bytes;  ///< of each allocate: what was requested
  std::uint32_t count;
  std::uint32_t allocates;
};

/// Hits of one thread, in order: four bytes each, and four more for an allocate. What most of them share stands once
/// for all of a stretch, which ends where any of it changes.
struct hit_page {
  struct stretch {
    std::uint64_t order;
    std::uint64_t time_ns;  ///< 0 where the clock was not read
    stream on;
    std::uint64_t base;
    std::uint32_t first_note;
    std::uint32_t first_allocate;
  };
  static constexpr std::uint32_t capacity = 1024;
  static constexpr std::uint32_t stretches_max = 256;
  static constexpr std::uint32_t notes_per_time = 64;
  static constexpr unsigned step_bits = 9;                ///< blocks are aligned to 512 bytes
  static constexpr unsigned reach_bits = step_bits + 31;  ///< from the base to the last block that a note can name

  hit_page* next = nullptr;
  std::uint32_t count = 0;
  std::uint32_t allocates = 0;
  std::uint32_t time_due = 0;  ///< where the clock is to be read again; at most the capacity
  std::uint32_t stretch_count = 0;
  std::uint32_t delivered = 0;  ///< stretches
  // the last stretch's
  std::uint64_t order = UINT64_MAX;
  stream on = default_stream;
  std::uint64_t base = 0;

  std::uint32_t notes[capacity];
  std::uint32_t bytes[capacity];
  stretch stretches[stretches_max];

  [[nodiscard]] bool is_full() const noexcept { return count == capacity || stretch_count == stretches_max; }
  /// As if new, but for what lies beyond the counts.
  void clear() noexcept {
    next = nullptr;
    count = allocates = time_due = stretch_count = delivered = 0;
    order = UINT64_MAX;
  }
  // All four: such a hit goes on with the last stretch.
  [[nodiscard]] bool has_room() const noexcept { return count < time_due; }
  [[nodiscard]] bool is_of(std::uint64_t now) const noexcept { return order == now; }
  [[nodiscard]] bool is_on(stream where) const noexcept { return on == where; }
  [[nodiscard]] bool reaches(const void* address) const noexcept { return distance_to(address) >> reach_bits == 0; }
  /// Sees to it that such a hit goes on. Requires: not full.
  void make_ready(const void* address, stream where, std::uint64_t now) noexcept {
    if (!has_room() || !is_of(now) || !is_on(where) || !reaches(address)) begin_stretch(address, where, now);
  }
  /// Requires: it goes on, and fewer than 4 GiB are requested, as always from a run.
  void note_allocate(const void* address, std::uint64_t requested_bytes) noexcept {
    notes[count++] = place_of(address);
    bytes[allocates++] = static_cast<std::uint32_t>(requested_bytes);
  }
  /// Requires: it goes on.
  void note_free(const void* address) noexcept { notes[count++] = place_of(address) | 1; }
  [[nodiscard]] noted_hits hits_of(std::uint32_t which) const noexcept;

 private:
  void begin_stretch(const void* address, stream where, std::uint64_t now) noexcept;
  [[nodiscard]] std::uint64_t distance_to(const void* address) const noexcept {
    return reinterpret_cast<std::uint64_t>(address) - base;
  }
  [[nodiscard]] std::uint32_t place_of(const void* address) const noexcept {
    return static_cast<std::uint32_t>(distance_to(address) >> step_bits << 1);
  }
};

/// Takes hits as they were noted, where a sink can: as its `write`, with its context.
using hit_writer = std::int32_t (*)(void* context, const noted_hits& hits) noexcept;

/// CLOCK_MONOTONIC.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// What is recorded, on its way to the sink.
///
/// A hit is noted by its thread in a page of its own, inside its gate; everything else in the pool's pages, under the
/// mutex. Whoever finds its page full takes the slow way, and writes what all threads have noted after that, outside
/// the pool's mutex: a thread waits, and nothing is lost.
/// Order without a shared counter on the hit path: the slow ways count up, and a hit takes the count as it is. Memory
/// changes hands between threads only under the mutex with the others outside their gates, so whatever depends on
/// another thread's event has a higher number; hits of one number on two threads have nothing to do with each other.
/// Concurrency: `writing` is taken before the pool's mutex, and guards the sink. The rest is guarded by the mutex,
/// but for order(), which is read inside a gate.
/// Cost: a hit writes 4 to 8 bytes, and reads the clock once in 64. Pages come from the arena and are used again.
/// It formats nothing and opens no file: that is the sink's.
class recorder {
 public:
  explicit recorder(arena& memory) noexcept : memory_(memory) {}

  [[nodiscard]] bool on() const noexcept { return on_; }
  [[nodiscard]] std::uint64_t order() const noexcept { return order_.load(std::memory_order_relaxed); }

  /// Notes what a slow way did, while recording. `order` and `time_ns` are filled in.
  void note(recorded_event what) noexcept {
    if (on_) [[unlikely]]
      append(what);
  }
  void note(arcalloc_recorded_kind kind, stream on) noexcept { note(of(kind, on)); }
  [[nodiscard]] static recorded_event of(arcalloc_recorded_kind kind, stream on = default_stream) noexcept {
    recorded_event made{};
    made.kind = static_cast<std::uint8_t>(kind);
    made.stream = static_cast<std::uint64_t>(on);
    return made;
  }
  [[nodiscard]] static recorded_event of_block(arcalloc_recorded_kind kind, stream on, const void* address,
                                               std::uint64_t bytes = 0) noexcept {
    recorded_event made = of(kind, on);
    made.id = reinterpret_cast<std::uint64_t>(address);
    made.bytes = bytes;
    return made;
  }

  /// `takes_hits`: null where the sink gets hits as events, like everything else.
  void start(const recording_sink& into, hit_writer takes_hits) noexcept;
  void stop() noexcept { on_ = false; }

  /// An empty page, or null when the host has no memory.
  [[nodiscard]] hit_page* take_hit_page() noexcept;
  void give_pages(hit_page* hits, event_page* noted) noexcept;
  /// What the slow ways have noted since the last call.
  [[nodiscard]] event_page* take_noted() noexcept;

  /// Somebody has to write what has been noted, once it is out of the mutex.
  [[nodiscard]] bool is_due() const noexcept { return due_.load(std::memory_order_relaxed); }
  void set_due() noexcept { due_.store(true, std::memory_order_relaxed); }
  /// The same, and the sink is to flush, where it last did long ago. Called at the end of a step.
  void set_due_after_a_while() noexcept;
  [[nodiscard]] bool take_flush_due() noexcept { return flush_due_.exchange(false, std::memory_order_relaxed); }

  /// Gives two chains to the sink, in order, and has it flush or close. Requires: `writing`, and not the mutex.
  void deliver(hit_page* hits, event_page* noted) noexcept;
  void flush() noexcept;
  [[nodiscard]] status close() noexcept;
  [[nodiscard]] recording_state state() const noexcept;

  std::mutex writing;

 private:
  void append(recorded_event what) noexcept;
  template <class Page>
  [[nodiscard]] Page* take_page(Page*& spare) noexcept;
  void give_to_sink(const recorded_event* events, std::uint64_t count) noexcept;
  void give_hits(const noted_hits& hits, std::uint64_t order) noexcept;
  void count_given(std::uint64_t count) noexcept;

  arena& memory_;
  bool on_ = false;
  std::atomic<std::uint64_t> order_{0};
  std::atomic<bool> due_{false};
  std::atomic<bool> flush_due_{false};
  std::uint64_t flushed_ns_ = 0;  ///< when that was last so
  event_page* noted_ = nullptr;   ///< oldest first
  event_page* last_noted_ = nullptr;
  event_page* spare_ = nullptr;
  hit_page* spare_hits_ = nullptr;
  std::atomic<std::uint64_t> lost_{0};

  // guarded by `writing`
  recording_sink sink_{};
  hit_writer takes_hits_ = nullptr;
  std::atomic<status> outcome_{status::ok};
  std::atomic<std::uint64_t> events_{0};
};

}  // namespace arcalloc::detail
