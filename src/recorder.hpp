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

/// Hits of one thread, in order: 16 bytes each, and what most of them share noted where it changes. Addresses of
/// blocks are multiples of 512, so the lowest bits say which of the four a note is.
struct hit_page {
  enum sort : std::uint64_t { allocate = 0, free = 1, instant = 2, place = 3 };
  struct note {
    std::uint64_t what;   ///< address | allocate or free; time_ns << 2 | instant, 0 where the clock was not read; place
    std::uint64_t value;  ///< requested bytes; nothing; order; stream
  };
  static constexpr std::uint32_t capacity = 1024;
  static constexpr std::uint32_t notes_per_hit_max = 3;
  static constexpr std::uint32_t notes_per_time = 64;

  hit_page* next = nullptr;
  std::uint32_t count = 0;
  std::uint32_t delivered = 0;
  std::uint32_t time_due = 0;  ///< where the clock is to be read again
  stream delivered_on = default_stream;
  std::uint64_t order = UINT64_MAX;
  stream on = default_stream;
  note notes[capacity];

  [[nodiscard]] bool is_full() const noexcept { return count + notes_per_hit_max > capacity; }
  /// As if new, but for the notes.
  void clear() noexcept {
    next = nullptr;
    count = delivered = time_due = 0;
    order = UINT64_MAX;
    on = delivered_on = default_stream;
  }
  /// Requires: not full.
  void add(sort kind, const void* address, std::uint64_t bytes, stream where, std::uint64_t now) noexcept {
    if (order != now || on != where || count >= time_due) [[unlikely]]
      mark(where, now);
    notes[count++] = {reinterpret_cast<std::uint64_t>(address) | kind, bytes};
  }
  void mark(stream where, std::uint64_t now) noexcept;
  [[nodiscard]] static sort sort_of(const note& one) noexcept { return static_cast<sort>(one.what & 3); }
  /// The order of the hits that come next. Requires: some do; the first of them follows an instant.
  [[nodiscard]] std::uint64_t next_order() const noexcept { return notes[delivered].value; }
};

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
/// Cost: a hit writes 16 bytes, and reads the clock once in 64. Pages come from the arena and are used again.
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

  void start(const recording_sink& into) noexcept;
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
  void give_run(hit_page& from, std::uint64_t most) noexcept;

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
  std::atomic<status> outcome_{status::ok};
  std::atomic<std::uint64_t> events_{0};
};

}  // namespace arcalloc::detail
