// SPDX-License-Identifier: Apache-2.0
// For each kind of misuse a little allocator that commits it and is convicted of it, first of all; and
// the one they derive from, which does none of it and is innocent over the same engine.
#include <gtest/gtest.h>
#include <arcalloc/sim_backend.hpp>

#include "sizes_and_streams.hpp"
#include "tiny_allocator.hpp"

namespace arcalloc {
namespace {

using testing::mib;
using testing::s1;
using testing::s2;
using testing::s3;
using testing::tiny_allocator;
constexpr std::uint64_t capacity_bytes = 8 * mib;

/// Asks, works and gives back, and tells the device as an engine must.
class engine {
 public:
  engine(sim_backend& device, tiny_allocator& memory) : device_(device), memory_(memory) {}

  void* get(std::uint64_t bytes, stream on) {
    void* const address = memory_.get(bytes, on);
    if (address == nullptr) return nullptr;
    device_.handed_out(on, address, bytes);
    device_.use(on, address, bytes);
    return address;
  }

  void use(void* address, std::uint64_t bytes, stream on) {
    device_.use(on, address, bytes);
    memory_.note_use(address, on);
  }

  void put(void* address) {
    if (address == nullptr) return;
    device_.handed_back(address);
    memory_.put(address);
  }

 private:
  sim_backend& device_;
  tiny_allocator& memory_;
};

/// What makes every kind of misuse possible.
void run_engine(sim_backend& device, tiny_allocator& memory) {
  engine plays(device, memory);
  // A block comes back and is asked for again, by two.
  plays.put(plays.get(1000, s1));
  void* const first = plays.get(1000, s1);
  void* const second = plays.get(1000, s1);
  plays.put(first);
  // It comes back while s2 works on it, and s3 asks; then everything idle goes to the device, but not what is out.
  device.wait(s2, s1);
  device.busy(s2);
  plays.use(second, 1000, s2);
  plays.put(second);
  void* const third = plays.get(1000, s3);
  void* const fourth = plays.get(1000, s3);
  plays.put(third);
  memory.drain();
  device.use(s3, fourth, 1000);
  plays.put(fourth);
  // A capture finds one block idle on its stream and another on a busy one, and asks for a third.
  device.busy(s2);
  void* const elsewhere = plays.get(mib, s2);
  plays.put(plays.get(2 * mib, s1));
  plays.put(elsewhere);
  device.begin_capture(s1);
  memory.begin_capture(s1);
  plays.put(plays.get(2 * mib, s1));
  plays.put(plays.get(mib, s1));
  plays.put(plays.get(mib + 512, s3));
  memory.drain();
  device.abort_capture(s1);
  memory.end_capture();
  memory.drain();
  // More than the capacity, were the idle one to stay.
  plays.put(plays.get(6 * mib, s1));
  plays.put(plays.get(5 * mib, s1));
  memory.drain();
}

template <class Allocator>
std::vector<std::string> verdict_on() {
  sim_backend device({.memory_bytes = 64 * mib});
  device.set_capacity_bytes(capacity_bytes);
  Allocator memory(device, capacity_bytes);
  run_engine(device, memory);
  device.convict_leaks();
  return device.convictions();
}

std::string all_of(const std::vector<std::string>& sentences) {
  std::string text;
  for (const std::string& sentence : sentences) text.append(sentence).append("\n");
  return text;
}

template <class Allocator>
void expect_first(const char* what) {
  const std::vector<std::string> found = verdict_on<Allocator>();
  ASSERT_FALSE(found.empty()) << "not convicted";
  EXPECT_NE(found.front().find(what), std::string::npos) << all_of(found);
}

TEST(sim_convictions, the_well_behaved_allocator_is_innocent) { EXPECT_EQ(all_of(verdict_on<tiny_allocator>()), ""); }

struct hands_out_twice : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  piece take_idle(place candidate) override {
    piece taken = *candidate;
    candidate->events.clear();
    return taken;
  }
};
TEST(sim_convictions, a_block_over_one_that_is_out) {
  sim_backend device;
  hands_out_twice memory(device, capacity_bytes);
  engine plays(device, memory);
  plays.put(plays.get(1000, s1));
  (void)plays.get(1000, s1);
  (void)plays.get(1000, s1);
  ASSERT_EQ(device.convictions().size(), 1U);
  EXPECT_NE(device.convictions().front().find("is handed out over"), std::string::npos);
}

struct hands_out_what_went_back : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void put(void* address) override {
    tiny_allocator::put(address);
    if (idle_.empty()) return;
    wait_for(idle_.back());
    drop_events(idle_.back());
    give_back(idle_.back());
  }
};
TEST(sim_convictions, a_block_and_work_in_memory_that_is_not_lent) {
  expect_first<hands_out_what_went_back>("is handed out, and is not in one lent range");
  EXPECT_NE(all_of(verdict_on<hands_out_what_went_back>()).find("work of stream 1 on"), std::string::npos);
}

struct frees_what_is_out : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void drain() override {
    tiny_allocator::drain();
    for (const auto& [address, live] : out_) {
      if (!in_capture()) give_back(live);
    }
  }
};
TEST(sim_convictions, a_free_under_a_block_that_is_out) {
  expect_first<frees_what_is_out>("is out");
  EXPECT_NE(all_of(verdict_on<frees_what_is_out>()).find(", which is not lent"), std::string::npos);
}

struct ignores_other_streams : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  bool may_reuse(const piece&, stream) override { return true; }
};
TEST(sim_convictions, a_block_handed_on_before_its_work_is_ordered) {
  expect_first<ignores_other_streams>("is handed to stream 3 before the work of stream 2");
}

struct frees_a_part : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void give_back(const piece& leaving) override {
    free_to_device(static_cast<char*>(leaving.address) + 512, leaving.bytes - 512);
  }
};
struct frees_foreign_memory : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void give_back(const piece& leaving) override { free_to_device(nullptr, leaving.bytes); }
};
struct frees_twice : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void give_back(const piece& leaving) override {
    tiny_allocator::give_back(leaving);
    tiny_allocator::give_back(leaving);
  }
};
struct frees_another_size : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void give_back(const piece& leaving) override { free_to_device(leaving.address, leaving.requested_bytes); }
};
TEST(sim_convictions, a_free_of_what_was_not_lent_so) {
  expect_first<frees_a_part>("inside a lent range and not its beginning");
  expect_first<frees_foreign_memory>("foreign free");
  expect_first<frees_twice>("second free");
  expect_first<frees_another_size>("free with the wrong size");
}

struct does_not_wait : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void wait_for(const piece&) override {}
};
TEST(sim_convictions, a_free_with_unfinished_work) { expect_first<does_not_wait>("with unfinished work of stream 2"); }

struct asks_events_in_a_capture : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  bool may_reuse(const piece& candidate, stream on) override {
    bool finished = true;
    for (const recorded& use : candidate.events) {
      if (use.on != on && device_.query_event(use.point, finished) != status::ok) return false;
      if (!finished) return false;
    }
    return true;
  }
};
struct waits_in_a_capture : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void drain() override {
    for (const piece& idle : idle_) wait_for(idle);
    tiny_allocator::drain();
  }
};
struct frees_in_a_capture : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void drain() override {
    if (in_capture() && !idle_.empty()) give_back(idle_.front());
    tiny_allocator::drain();
  }
};
struct asks_for_memory_info_in_a_capture : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  bool fits_device(std::uint64_t bytes) const override {
    memory_info said;
    return device_.query_memory(said) == status::ok && bytes <= said.total_bytes;
  }
};
struct allocates_on_the_capturing_stream : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  status grow(std::uint64_t bytes, stream on, void*& address) override { return device_.allocate(bytes, on, address); }
};
struct records_on_the_capturing_stream : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  bool may_record(stream) const override { return true; }
};
TEST(sim_convictions, a_call_that_is_illegal_in_a_capture) {
  expect_first<asks_events_in_a_capture>("query_event while a capture is open on stream 1");
  expect_first<waits_in_a_capture>("wait_event while a capture is open on stream 1");
  expect_first<frees_in_a_capture>("free while a capture is open on stream 1");
  expect_first<asks_for_memory_info_in_a_capture>("query_memory while a capture is open on stream 1");
  expect_first<allocates_on_the_capturing_stream>("allocate of 1048576 bytes on stream 1, which is in a capture");
  expect_first<records_on_the_capturing_stream>("record_event on stream 1, which is in a capture");
}

struct makes_events_up : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void wait_for(const piece&) override { (void)device_.wait_event(event{999}); }
};
struct asks_dropped_events : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void drop_events(piece& idle) override {
    const std::vector<recorded> dropped = idle.events;
    tiny_allocator::drop_events(idle);
    bool finished = false;
    for (const recorded& use : dropped) (void)device_.query_event(use.point, finished);
  }
};
struct drops_twice : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void drop_events(piece& idle) override {
    for (const recorded& use : idle.events) device_.drop_event(use.point);
    tiny_allocator::drop_events(idle);
  }
};
TEST(sim_convictions, an_event_that_is_unknown_or_was_dropped) {
  expect_first<makes_events_up>("wait_event of event 999, which was never recorded");
  expect_first<asks_dropped_events>("query_event of event 1, which was dropped");
  expect_first<drops_twice>("drop_event of event 1, which was dropped");
}

struct does_not_round : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  std::uint64_t rounded(std::uint64_t bytes) const override { return bytes; }
};
TEST(sim_convictions, a_size_that_is_no_multiple_of_the_granule) {
  expect_first<does_not_round>("allocate of 1000 bytes, no positive multiple of the granule of 512");
}

struct makes_room_afterwards : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  bool make_room(std::uint64_t bytes) override { return bytes <= capacity_bytes_; }
};
TEST(sim_convictions, a_capacity_exceeded_for_an_instant) {
  expect_first<makes_room_afterwards>("bytes lent, above the capacity of 8388608");
}

struct keeps_one : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void give_back(const piece& leaving) override {
    if (leaving.bytes != 5 * mib) tiny_allocator::give_back(leaving);
  }
};
struct keeps_events : tiny_allocator {
  using tiny_allocator::tiny_allocator;
  void drop_events(piece& idle) override { idle.events.clear(); }
};
TEST(sim_convictions, what_was_never_given_back) {
  expect_first<keeps_one>("+5242880) was never freed");
  EXPECT_EQ(verdict_on<keeps_one>().size(), 1U);
  expect_first<keeps_events>("was never dropped");
}

TEST(sim_convictions, a_granularity_that_is_no_power_of_two) {
  sim_backend device({.granularity = 500});
  EXPECT_EQ(device.granularity(), 512U);
  EXPECT_EQ(device.convictions().size(), 1U);
}

TEST(sim_convictions, a_capture_that_ends_where_none_began_or_begins_twice) {
  sim_backend device;
  EXPECT_EQ(device.end_capture(s1), sim_graph::none);
  device.abort_capture(s1);
  EXPECT_EQ(device.convictions().size(), 2U);
  device.begin_capture(s1);
  device.wait(s2, s1);
  device.begin_capture(s2);
  EXPECT_EQ(device.end_capture(s2), sim_graph::none);
  device.abort_capture(s2);
  EXPECT_EQ(device.convictions().size(), 5U);
}

TEST(sim_convictions, a_sentence_names_its_call_and_what_was_called) {
  sim_backend device;
  device.busy(s1);
  bool finished = false;
  EXPECT_EQ(device.query_event(event{5}, finished), status::invalid_argument);
  EXPECT_EQ(all_of(device.convictions()), "call 2: query_event of event 5, which was never recorded\n");
}

}  // namespace
}  // namespace arcalloc
