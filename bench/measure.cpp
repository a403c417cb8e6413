// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

namespace arcalloc::bench {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::uint64_t device_bytes = std::uint64_t{24} << 30;
constexpr std::uint64_t steps_per_batch = 20;
static_assert(growing_positions % steps_per_batch == 0);
constexpr std::uint64_t warm_up_steps = 60;

/// Where threads wait for each other, spinning: a sleeping one would be late for its batch.
class meeting {
 public:
  explicit meeting(unsigned threads) noexcept : threads_(threads) {}
  void wait() noexcept {
    const unsigned round = round_.load();
    if (arrived_.fetch_add(1) + 1 == threads_) {
      arrived_.store(0);
      round_.store(round + 1);
      return;
    }
    while (round_.load() == round) std::this_thread::yield();
  }

 private:
  unsigned threads_;
  std::atomic<unsigned> arrived_{0};
  std::atomic<unsigned> round_{0};
};

/// What the threads of one measurement share.
struct course {
  const request& wanted;
  const decode_sequence& sequence;
  subject& under_test;
  meeting at;
  std::atomic<std::uint64_t> refused{0};
  std::atomic<std::uint64_t> steps{0};  ///< of one thread
  std::atomic<bool> over{false};
  std::vector<std::vector<double>> batch_ns;  ///< by thread, of all pairs of a batch

  void play(positions where, unsigned thread) { refused += under_test.play(sequence, where, thread + 1); }

  void play_timed(positions where, unsigned thread) {
    at.wait();
    const clock::time_point began = clock::now();
    play(where, thread);
    batch_ns[thread].push_back(std::chrono::duration<double, std::nano>(clock::now() - began).count());
    if (thread == 0) steps += where.steps;
  }
};

/// Batches of equal steps until the time is over. All threads make the same number of batches.
void play_batches(course& shared, unsigned thread) {
  shared.play({1, warm_up_steps, 0}, thread);
  const clock::time_point until = clock::now() + std::chrono::milliseconds(shared.wanted.milliseconds);
  while (!shared.over) {
    shared.play_timed({1, steps_per_batch, 0}, thread);
    shared.at.wait();
    if (thread == 0) shared.over = clock::now() >= until;
    shared.at.wait();
  }
}

void play_course(course& shared, unsigned thread) {
  const request& wanted = shared.wanted;
  const bool grows = wanted.what == mode::growing;
  if (wanted.steps != 0) {
    shared.play({wanted.first_position, wanted.steps, grows ? 1u : 0u}, thread);
    if (thread == 0) shared.steps = wanted.steps;
  } else if (grows) {
    for (std::uint64_t first = 1; first <= growing_positions; first += steps_per_batch) {
      shared.play_timed({first, steps_per_batch, 1}, thread);
    }
  } else {
    play_batches(shared, thread);
  }
}

/// All batches, the fastest first. A batch takes as long as its slowest thread.
std::vector<double> sorted_batches(const std::vector<std::vector<double>>& by_thread) {
  std::vector<double> batches = by_thread.front();
  for (const std::vector<double>& one : by_thread) {
    for (std::size_t index = 0; index < batches.size(); ++index) batches[index] = std::max(batches[index], one[index]);
  }
  std::sort(batches.begin(), batches.end());
  return batches;
}

}  // namespace

measurement measure(const peer& which, const request& wanted) {
  const bool grows = wanted.what == mode::growing;
  const decode_sequence sequence = make_decode_sequence(grows ? growing_tensors::included : growing_tensors::left_out);
  fake_driver driver(device_bytes);
  if (which.takes == bound::capacity) driver.promise_capacity(wanted.bound_bytes);
  const std::unique_ptr<subject> under_test = which.make(driver, wanted.bound_bytes);
  if (wanted.what == mode::populated) under_test->populate(other_blocks(), 1);

  course shared{.wanted = wanted,
                .sequence = sequence,
                .under_test = *under_test,
                .at = meeting(wanted.threads),
                .batch_ns = std::vector<std::vector<double>>(wanted.threads)};
  std::vector<std::thread> others;
  for (unsigned thread = 1; thread < wanted.threads; ++thread) {
    others.emplace_back([&shared, thread] { play_course(shared, thread); });
  }
  play_course(shared, 0);
  for (std::thread& other : others) other.join();

  measurement out;
  out.steps = shared.steps;
  out.pairs = out.steps * sequence.pairs * wanted.threads;
  out.refused = shared.refused;
  out.driver = driver.read();
  if (const std::vector<double> batches = sorted_batches(shared.batch_ns); !batches.empty()) {
    const auto pairs_of_batch = static_cast<double>(steps_per_batch * sequence.pairs);
    out.ns_per_pair = batches[batches.size() / 2] / pairs_of_batch;
    out.ns_per_pair_fastest = batches.front() / pairs_of_batch;
  }
  return out;
}

}  // namespace arcalloc::bench
