// SPDX-License-Identifier: Apache-2.0
// What each stage behind a hit costs, one at a time, over a driver that costs nothing. Each says at its end whether the
// counter of its stage moved as often as it was played; where it did not, the benchmark fails instead of naming a time.
#include <benchmark/benchmark.h>

#include <arcalloc/allocator.hpp>
#include <barrier>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "fake_driver.hpp"

namespace {

using namespace arcalloc;

constexpr std::uint64_t kib = 1024, mib = 1024 * kib;
constexpr stream s1{1}, s2{2};
constexpr std::size_t small_bytes = 8 * kib;
constexpr std::size_t large_bytes = 64 * mib;  // a segment of its own

/// An allocator over the fake driver.
class engine {
 public:
  explicit engine(const options& settings = {}) {
    allocator* raw = nullptr;
    if (allocator::create(device_, settings, raw) != status::ok) throw std::runtime_error("no allocator");
    memory_.reset(raw);
  }
  block get(std::size_t bytes, stream on = s1) {
    block piece;
    require(memory_->allocate(bytes, on, piece));
    return piece;
  }
  void put(const block& piece) { require(memory_->deallocate(piece)); }
  [[nodiscard]] allocator& operator*() noexcept { return *memory_; }
  [[nodiscard]] allocator* operator->() noexcept { return memory_.get(); }
  [[nodiscard]] counters now() const {
    counters said;
    memory_->read_counters(said);
    return said;
  }
  static void require(status outcome) {
    if (outcome != status::ok) throw std::runtime_error(status_name(outcome));
  }

 private:
  bench::fake_driver driver_{24 * kib * mib};
  bench::fake_backend device_{driver_};
  allocator_ptr memory_;
};

/// The counter is to have moved once for each iteration, but for the first `late` of them.
void expect_moved(benchmark::State& state, std::uint64_t by, std::uint64_t late = 1) {
  const auto iterations = static_cast<std::uint64_t>(state.iterations());
  if (by > iterations || by + late < iterations) {
    state.SkipWithError(("the stage was played " + std::to_string(by) + " times").c_str());
  }
}

void hit(benchmark::State& state) {
  engine at;
  const block beside = at.get(small_bytes);
  const std::uint64_t before = at.now().stream_cache_hits;
  for (auto _ : state) at.put(at.get(small_bytes));
  expect_moved(state, at.now().stream_cache_hits - before);
  at.put(beside);
}

/// The first block of its segment: the segment is no longer idle, and is again.
void hit_of_an_idle_segment(benchmark::State& state) {
  engine at;
  at.put(at.get(small_bytes));
  const std::uint64_t before = at.now().stream_cache_hits;
  for (auto _ : state) at.put(at.get(small_bytes));
  expect_moved(state, at.now().stream_cache_hits - before);
}

void pool_hit(benchmark::State& state) {
  engine at;
  at.put(at.get(large_bytes));
  const std::uint64_t before = at.now().pool_hits;
  for (auto _ : state) at.put(at.get(large_bytes));
  expect_moved(state, at.now().pool_hits - before);
}

/// Freed while work on another stream uses it: an event, pending, and reclaimed by the next request.
void pending(benchmark::State& state) {
  engine at;
  for (auto _ : state) {
    const block piece = at.get(large_bytes);
    engine::require(at->note_use(piece, s2));
    at.put(piece);
  }
  expect_moved(state, at.now().reclaim_hits);
}

/// Two streams take the only idle segment from each other.
void cross_stream_hit(benchmark::State& state) {
  engine at;
  at.put(at.get(small_bytes, s2));
  stream on = s1;
  for (auto _ : state) {
    at.put(at.get(small_bytes, on));
    on = on == s1 ? s2 : s1;
  }
  expect_moved(state, at.now().cross_stream_hits);
}

/// Nothing is kept: the driver is asked for each block, and each free gives one back.
void miss(benchmark::State& state) {
  options settings;
  settings.cached_bytes_max = {.mode = bound_mode::explicit_bytes, .bytes = 0};
  engine at(settings);
  for (auto _ : state) at.put(at.get(large_bytes));
  expect_moved(state, at.now().misses, 0);
}

/// Every request is refused by the capacity first, until what idles of another class is given back. The one class is
/// more than twice the other, which it would be lent to.
void evict(benchmark::State& state) {
  constexpr std::size_t larger_bytes = 2 * large_bytes + large_bytes / 2;
  options settings;
  settings.capacity_bytes = 3 * large_bytes;
  engine at(settings);
  std::size_t bytes = large_bytes;
  for (auto _ : state) {
    at.put(at.get(bytes));
    bytes = bytes == large_bytes ? larger_bytes : large_bytes;
  }
  expect_moved(state, at.now().evict_retries);
}

void capture_hit(benchmark::State& state) {
  engine at;
  const block beside = at.get(small_bytes);
  at.put(at.get(small_bytes));
  engine::require(at->begin_capture(s1));
  for (auto _ : state) at.put(at.get(small_bytes));
  expect_moved(state, at.now().capture_hits, 0);
  engine::require(at->abort_capture(s1));
  at.put(beside);
}

/// Blocks of one thread, freed by another one; its time alone, for each block.
void free_from_another_thread(benchmark::State& state) {
  engine at;
  std::vector<block> out(256);
  std::barrier<> together(2);
  double seconds = 0;
  bool over = false;
  std::thread other([&] {
    for (;;) {
      together.arrive_and_wait();
      if (over) return;
      const auto began = std::chrono::steady_clock::now();
      for (const block& piece : out) at.put(piece);
      seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
      together.arrive_and_wait();
    }
  });
  while (state.KeepRunningBatch(static_cast<benchmark::IterationCount>(out.size()))) {
    for (block& piece : out) piece = at.get(small_bytes);
    together.arrive_and_wait();
    together.arrive_and_wait();
    state.SetIterationTime(seconds);
  }
  over = true;
  together.arrive_and_wait();
  other.join();
  if (at.now().blocks_live != 0) state.SkipWithError("a block is still out");
}

void end_step(benchmark::State& state) {
  engine at;
  at.put(at.get(small_bytes));
  for (auto _ : state) at->end_step();
}

void read_counters(benchmark::State& state) {
  engine at;
  at.put(at.get(small_bytes));
  for (auto _ : state) benchmark::DoNotOptimize(at.now());
}

BENCHMARK(hit);
BENCHMARK(hit_of_an_idle_segment);
BENCHMARK(pool_hit);
BENCHMARK(pending);
BENCHMARK(cross_stream_hit);
BENCHMARK(miss);
BENCHMARK(evict);
BENCHMARK(capture_hit);
BENCHMARK(free_from_another_thread)->UseManualTime();
BENCHMARK(end_step);
BENCHMARK(read_counters);

}  // namespace

BENCHMARK_MAIN();
