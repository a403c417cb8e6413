// SPDX-License-Identifier: Apache-2.0
#include "scale.hpp"

#include <algorithm>
#include <barrier>
#include <ctime>
#include <fstream>
#include <mutex>
#include <numeric>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

namespace arcalloc::bench {

namespace {

constexpr std::uint64_t device_bytes = std::uint64_t{24} << 30;
constexpr std::size_t pair_bytes = 8192;
constexpr std::uint64_t streams = 1000;
constexpr unsigned threads = 64;
constexpr std::uint64_t pairs_per_visit = 4;

/// An allocator and its driver, new.
struct place {
  explicit place(const peer& which) : driver(device_bytes), under_test(which.make(driver, 0)) {}
  fake_driver driver;
  std::unique_ptr<subject> under_test;
};

decode_sequence one_pair() {
  decode_sequence made;
  made.pairs = 1;
  made.operations = {{.bytes = pair_bytes}, {}};
  return made;
}

/// Anonymous and resident, exactly: the kernel walks the pages.
double own_host_bytes() {
  std::ifstream rollup("/proc/self/smaps_rollup");
  for (std::string name; rollup >> name;) {
    std::uint64_t kib = 0;
    if (name == "Anonymous:" && rollup >> kib) return static_cast<double>(kib * 1024);
  }
  throw std::runtime_error("/proc/self/smaps_rollup has no line `Anonymous:`");
}

double ns_of_thread() {
  timespec spent{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
  return static_cast<double>(spent.tv_sec) * 1e9 + static_cast<double>(spent.tv_nsec);
}

void visit(subject& under_test, const decode_sequence& pair, std::uint64_t on) {
  if (under_test.play(pair, {1, pairs_per_visit, 0}, on) != 0) throw std::runtime_error("a call was refused");
}

/// One block stays out on each stream.
void keep_one_out(subject& under_test, std::uint64_t first, std::uint64_t last) {
  const std::size_t sizes[] = {pair_bytes, pair_bytes};
  for (std::uint64_t on = first; on <= last; ++on) under_test.populate(sizes, on);
}

/// The median over rounds of visits to all streams in turn.
double ns_per_pair(subject& under_test, std::uint64_t stream_count) {
  const decode_sequence pair = one_pair();
  std::vector<double> rounds(51);
  const std::uint64_t turns = 4000 / stream_count;
  for (double& round : rounds) {
    const double began = ns_of_thread();
    for (std::uint64_t turn = 0; turn < turns; ++turn) {
      for (std::uint64_t on = 1; on <= stream_count; ++on) visit(under_test, pair, on);
    }
    round = ns_of_thread() - began;
  }
  const auto middle = rounds.begin() + static_cast<std::ptrdiff_t>(rounds.size() / 2);
  std::nth_element(rounds.begin(), middle, rounds.end());
  return *middle / static_cast<double>(turns * stream_count * pairs_per_visit);
}

template <std::size_t Count, std::size_t Bytes>
scale_readings measure_blocks(const peer& which) {
  place at(which);
  const std::vector<std::size_t> sizes(Count, Bytes);
  at.under_test->make_room(Count);
  const double before = own_host_bytes();
  at.under_test->populate(sizes, 1);
  scale_readings out;
  out.host_bytes = (own_host_bytes() - before) / Count;
  out.device_bytes = static_cast<double>(at.driver.read().peak_bytes) / Count;
  return out;
}

scale_readings measure_one_stream(const peer& which) {
  place at(which);
  keep_one_out(*at.under_test, 1, 1);
  scale_readings out;
  out.ns_per_pair = ns_per_pair(*at.under_test, 1);
  return out;
}

scale_readings measure_idle_streams(const peer& which) {
  place at(which);
  scale_readings out;
  out.ns_per_pair = ns_per_pair(*at.under_test, streams);
  return out;
}

scale_readings measure_streams(const peer& which) {
  place at(which);
  at.under_test->make_room(2 * streams);
  keep_one_out(*at.under_test, 1, 1);
  const double host_before = own_host_bytes();
  const std::uint64_t device_before = at.driver.read().held_bytes;
  keep_one_out(*at.under_test, 2, streams);
  scale_readings out;
  out.host_bytes = (own_host_bytes() - host_before) / (streams - 1);
  out.device_bytes = static_cast<double>(at.driver.read().held_bytes - device_before) / (streams - 1);
  out.ns_per_pair = ns_per_pair(*at.under_test, streams);
  return out;
}

/// What the threads and the one that measures share.
struct crowd {
  explicit crowd(subject& every) noexcept : under_test(every) {}

  subject& under_test;
  std::barrier<> together{threads + 1};
  std::mutex one_at_a_time;
};

/// One of the threads: its first pairs, then its share of the streams over and over. Meets the others before the first
/// pair, to begin it, after it, and to go on.
double play_share(crowd& among, std::uint64_t own) {
  constexpr int rounds = 500;
  const decode_sequence pair = one_pair();
  among.together.arrive_and_wait();
  among.together.arrive_and_wait();
  visit(among.under_test, pair, own);
  among.together.arrive_and_wait();
  among.together.arrive_and_wait();
  for (std::uint64_t on = own; on <= streams; on += threads) {
    const std::lock_guard held(among.one_at_a_time);
    keep_one_out(among.under_test, on, on);
  }
  const double began = ns_of_thread();
  std::uint64_t pairs = 0;
  for (int round = 0; round < rounds; ++round) {
    for (std::uint64_t on = own; on <= streams; on += threads) {
      visit(among.under_test, pair, on);
      pairs += pairs_per_visit;
    }
  }
  return (ns_of_thread() - began) / static_cast<double>(pairs);
}

scale_readings measure_threads(const peer& which) {
  place at(which);
  crowd among(*at.under_test);
  std::vector<double> ns(threads);
  std::vector<std::thread> all;
  for (unsigned thread = 0; thread < threads; ++thread) {
    all.emplace_back([&, thread] { ns[thread] = play_share(among, thread + 1); });
  }
  scale_readings out;
  among.together.arrive_and_wait();
  const double before = own_host_bytes();
  among.together.arrive_and_wait();
  among.together.arrive_and_wait();
  out.host_bytes = (own_host_bytes() - before) / threads;
  among.together.arrive_and_wait();
  for (std::thread& one : all) one.join();
  out.ns_per_pair = std::accumulate(ns.begin(), ns.end(), 0.0) / threads;
  return out;
}

}  // namespace

std::span<const scale_part> scale_parts() {
  static constexpr scale_part all[] = {
      {"blocks", measure_blocks<10'000, 512>}, {"large_blocks", measure_blocks<3'000, std::size_t{4} << 20>},
      {"one_stream", measure_one_stream},      {"streams", measure_streams},
      {"idle_streams", measure_idle_streams},  {"threads", measure_threads},
  };
  return all;
}

}  // namespace arcalloc::bench
