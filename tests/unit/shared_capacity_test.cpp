// SPDX-License-Identifier: Apache-2.0
// Two threads under one capacity: what one has idle is room for the other, and the capacity holds at every instant.
#include <gtest/gtest.h>
#include <atomic>
#include <barrier>
#include <functional>
#include <latch>
#include <thread>

#include "small_world.hpp"

namespace arcalloc {
namespace {

using testing::gib;
using testing::kib;
using testing::mib;

/// A device of addresses that looks at the capacity whenever it lends, and lets other threads run in the middle of its
/// calls, as a driver that takes its time does.
class watched_backend final : public backend {
 public:
  explicit watched_backend(std::uint64_t capacity_bytes) : capacity_bytes_(capacity_bytes) {}

  const char* name() const noexcept override { return "watched"; }
  std::size_t granularity() const noexcept override { return 512; }
  bool synchronous() const noexcept override { return true; }

  status allocate(std::size_t bytes, stream on, void*& address) noexcept override {
    std::this_thread::yield();
    // Counted before it is lent, so that the sum is never below what is lent.
    const std::uint64_t lent = lent_bytes.fetch_add(bytes) + bytes;
    if (lent > capacity_bytes_) over_capacity.fetch_add(1);
    const status outcome = below_.allocate(bytes, on, address);
    if (outcome != status::ok) lent_bytes.fetch_sub(bytes);
    return outcome;
  }
  status free(void* address, std::size_t bytes) noexcept override {
    std::this_thread::yield();
    if (before_free) before_free();
    const status outcome = below_.free(address, bytes);
    if (outcome == status::ok) lent_bytes.fetch_sub(bytes);
    return outcome;
  }
  status query_memory(memory_info& out) const noexcept override { return below_.query_memory(out); }
  status record_event(stream on, event& out) noexcept override { return below_.record_event(on, out); }
  status query_event(event point, bool& finished) noexcept override { return below_.query_event(point, finished); }
  status wait_event(event point) noexcept override { return below_.wait_event(point); }
  void drop_event(event point) noexcept override { below_.drop_event(point); }

  [[nodiscard]] std::uint64_t convictions() const { return below_.convictions; }

  std::function<void()> before_free;

  std::atomic<std::uint64_t> lent_bytes{0};
  std::atomic<std::uint64_t> over_capacity{0};

 private:
  std::uint64_t capacity_bytes_;
  testing::recording_backend below_{24 * gib};
};

allocator_ptr make(backend& device, std::uint64_t capacity_bytes) {
  options settings;
  settings.cached_bytes_max.mode = bound_mode::unbounded;  // the capacity alone decides
  settings.capacity_bytes = capacity_bytes;
  allocator* raw = nullptr;
  EXPECT_EQ(allocator::create(device, settings, raw), status::ok);
  return allocator_ptr(raw);
}

counters counters_of(const allocator& memory) {
  counters said;
  memory.read_counters(said);
  return said;
}

constexpr std::uint64_t layers = 6;
constexpr std::uint64_t steps = 160;

/// Keys and values of one layer, one row longer at every step.
constexpr std::uint64_t kv_bytes(std::uint64_t step) { return 12 * kib * (step + 1) + 700; }

/// What two threads ask for at once at most: all layers' keys and values of the last step, one more as it is copied,
/// and the scores beside it.
constexpr std::uint64_t live_peak_bytes = 2 * ((2 * layers + 1) * kv_bytes(steps - 1) + 40 * kib * steps);

/// A decode loop: every buffer is concatenated into a new one at every step, which all threads begin at once. Counts
/// what it could not have.
std::uint64_t decode(allocator& memory, stream on, std::barrier<>& step_begins) {
  std::uint64_t refused = 0;
  std::vector<block> kv(2 * layers);
  const auto free = [&](const block& piece) {
    if (memory.deallocate(piece) != status::ok) ++refused;
  };
  for (std::uint64_t step = 0; step < steps; ++step) {
    step_begins.arrive_and_wait();
    for (block& buffer : kv) {
      block longer;
      if (memory.allocate(kv_bytes(step), on, longer) != status::ok) ++refused;
      free(buffer);
      buffer = longer;
      block scores;
      if (memory.allocate(40 * kib * (step + 1), on, scores) != status::ok) ++refused;
      free(scores);
    }
  }
  step_begins.arrive_and_wait();  // so that both have all of it at the end
  for (const block& buffer : kv) free(buffer);
  return refused;
}

TEST(shared_capacity, two_growing_sequences_fit_in_one_and_a_half_times_their_live_peak) {
  std::uint64_t evictions = 0;
  for (int run = 0; run < 10; ++run) {
    SCOPED_TRACE(run);
    constexpr std::uint64_t capacity = live_peak_bytes * 3 / 2;
    watched_backend device(capacity);
    const allocator_ptr memory = make(device, capacity);
    std::barrier<> step_begins(2);
    std::uint64_t refused[2] = {};
    std::vector<std::thread> crew;
    for (std::uint64_t t = 0; t < 2; ++t) {
      crew.emplace_back([&, t] { refused[t] = decode(*memory, stream{t + 1}, step_begins); });
    }
    for (std::thread& member : crew) member.join();
    EXPECT_EQ(refused[0] + refused[1], 0U);
    EXPECT_EQ(device.over_capacity.load(), 0U);
    EXPECT_EQ(device.convictions(), 0U);
    const counters said = counters_of(*memory);
    EXPECT_EQ(said.failed, 0U);
    EXPECT_EQ(said.requests, 2 * steps * 2 * layers * 2);
    EXPECT_LE(said.requested_bytes_peak, live_peak_bytes);
    EXPECT_LE(said.reserved_bytes_peak, capacity);
    for (const std::string& violation : testing::check_invariants(*memory)) ADD_FAILURE() << violation;
    evictions += said.evictions;
    EXPECT_EQ(memory->drain(), status::ok);
    EXPECT_EQ(device.lent_bytes.load(), 0U);
  }
  EXPECT_GT(evictions, 0U);  // else the capacity was never near
}

/// Another thread that holds `blocks` of `bytes` idle in its own cache, and stays while the test goes on.
class idle_neighbour {
 public:
  idle_neighbour(allocator& memory, stream on, std::uint64_t bytes, std::size_t blocks)
      : thread_([&memory, on, bytes, blocks, this] {
          std::vector<block> pieces(blocks);
          for (block& piece : pieces) EXPECT_EQ(memory.allocate(bytes, on, piece), status::ok);
          for (const block& piece : pieces) EXPECT_EQ(memory.deallocate(piece), status::ok);
          idle_.count_down();
          leave_.wait();
        }) {
    idle_.wait();
  }
  ~idle_neighbour() {
    leave_.count_down();
    thread_.join();
  }
  idle_neighbour(const idle_neighbour&) = delete;
  idle_neighbour& operator=(const idle_neighbour&) = delete;

 private:
  std::latch idle_{1};
  std::latch leave_{1};
  std::thread thread_;
};

constexpr std::uint64_t small_bytes = 1 * mib;
constexpr std::size_t small_blocks = 16;

/// Sets the capacity to what is reserved, so that nothing new can come from the driver.
counters shut(allocator& memory) {
  const counters full = counters_of(memory);
  EXPECT_EQ(full.cached_bytes, full.reserved_bytes);
  EXPECT_GE(full.cached_bytes, small_blocks * small_bytes);
  EXPECT_EQ(memory.set_capacity_bytes(full.reserved_bytes), status::ok);
  return full;
}

TEST(shared_capacity, what_a_neighbour_has_idle_serves_the_same_stream) {
  watched_backend device(1 * gib);
  const allocator_ptr memory = make(device, 1 * gib);
  const idle_neighbour neighbour(*memory, stream{5}, small_bytes, small_blocks);
  const counters before = shut(*memory);
  std::vector<block> mine(small_blocks);
  for (block& piece : mine) EXPECT_EQ(memory->allocate(small_bytes, stream{5}, piece), status::ok);
  const counters after = counters_of(*memory);
  EXPECT_EQ(after.driver_allocs, before.driver_allocs);
  EXPECT_GT(after.pool_hits, before.pool_hits);  // a segment at a time; the rest of each is this thread's own
  EXPECT_EQ(after.hits - before.hits, small_blocks);
  EXPECT_EQ(after.reserved_bytes, before.reserved_bytes);
  for (const block& piece : mine) EXPECT_EQ(memory->deallocate(piece), status::ok);
  for (const std::string& violation : testing::check_invariants(*memory)) ADD_FAILURE() << violation;
}

TEST(shared_capacity, what_a_neighbour_has_idle_serves_another_stream) {
  watched_backend device(1 * gib);
  const allocator_ptr memory = make(device, 1 * gib);
  const idle_neighbour neighbour(*memory, stream{5}, small_bytes, small_blocks);
  const counters before = shut(*memory);
  std::vector<block> mine(small_blocks);
  for (block& piece : mine) EXPECT_EQ(memory->allocate(small_bytes, stream{6}, piece), status::ok);
  const counters after = counters_of(*memory);
  EXPECT_EQ(after.driver_allocs, before.driver_allocs);
  EXPECT_GT(after.cross_stream_hits, before.cross_stream_hits);
  EXPECT_EQ(after.hits - before.hits, small_blocks);
  for (const block& piece : mine) EXPECT_EQ(memory->deallocate(piece), status::ok);
  for (const std::string& violation : testing::check_invariants(*memory)) ADD_FAILURE() << violation;
}

TEST(shared_capacity, what_a_neighbour_has_idle_goes_to_make_room_for_another_size) {
  watched_backend device(1 * gib);
  const allocator_ptr memory = make(device, 1 * gib);
  const idle_neighbour neighbour(*memory, stream{5}, small_bytes, small_blocks);
  const counters before = shut(*memory);
  block mine;
  EXPECT_EQ(memory->allocate(before.reserved_bytes, stream{6}, mine), status::ok);
  const counters after = counters_of(*memory);
  EXPECT_EQ(after.evict_retries, before.evict_retries + 1);
  EXPECT_EQ(after.evictions, before.segments_reserved);
  EXPECT_EQ(after.failed, 0U);
  EXPECT_EQ(memory->deallocate(mine), status::ok);
  for (const std::string& violation : testing::check_invariants(*memory)) ADD_FAILURE() << violation;
}

TEST(shared_capacity, a_request_waits_for_what_a_neighbour_is_giving_back) {
  constexpr std::uint64_t capacity = 64 * mib;
  watched_backend device(capacity);
  const allocator_ptr memory = make(device, capacity);
  block idle;
  EXPECT_EQ(memory->allocate(60 * mib, stream{1}, idle), status::ok);
  EXPECT_EQ(memory->deallocate(idle), status::ok);
  std::latch leaving(1);
  std::atomic<bool> answered{false};
  device.before_free = [&] {
    leaving.count_down();
    // The driver takes its time: as long as the request is not refused, or for so many turns.
    for (int turn = 0; turn < 20'000 && !answered.load(); ++turn) std::this_thread::yield();
  };
  std::thread neighbour([&] { EXPECT_EQ(memory->drain(), status::ok); });
  leaving.wait();
  block mine;
  EXPECT_EQ(memory->allocate(50 * mib, stream{2}, mine), status::ok);
  answered.store(true);
  neighbour.join();
  device.before_free = nullptr;
  EXPECT_EQ(counters_of(*memory).drain_retries, 1U);
  EXPECT_EQ(device.over_capacity.load(), 0U);
  EXPECT_EQ(memory->deallocate(mine), status::ok);
  for (const std::string& violation : testing::check_invariants(*memory)) ADD_FAILURE() << violation;
}

}  // namespace
}  // namespace arcalloc
