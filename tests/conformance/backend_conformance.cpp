// SPDX-License-Identifier: Apache-2.0
#include "backend_conformance.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <mutex>
#include <thread>

namespace arcalloc::testing {
namespace {

std::uint64_t place(const void* address) { return reinterpret_cast<std::uint64_t>(address); }

/// Ranges lent to several threads, each found to be alone.
class lent_to_threads {
 public:
  [[nodiscard]] bool insert(void* address, std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    const auto after = ranges_.lower_bound(place(address));
    const bool touches_next = after != ranges_.end() && after->first < place(address) + bytes;
    const bool touches_last = after != ranges_.begin() && std::prev(after)->second > place(address);
    ranges_[place(address)] = place(address) + bytes;
    return !touches_next && !touches_last;
  }
  void erase(void* address) {
    const std::lock_guard guard(mutex_);
    ranges_.erase(place(address));
  }

 private:
  std::mutex mutex_;
  std::map<std::uint64_t, std::uint64_t> ranges_;
};

}  // namespace

void backend_conformance::SetUp() {
  device_ = GetParam().make();
  ASSERT_NE(device_, nullptr);
  granule_ = device_->granularity();
}

void backend_conformance::TearDown() {
  if (device_ == nullptr) return;
  for (const std::string& complaint : GetParam().complaints(*device_)) ADD_FAILURE() << complaint;
}

void* backend_conformance::lend(std::size_t granules) {
  void* address = nullptr;
  EXPECT_EQ(device_->allocate(granules * granule_, default_stream, address), status::ok);
  EXPECT_NE(address, nullptr);
  return address;
}

void backend_conformance::give_back(void* address, std::size_t granules) {
  EXPECT_EQ(device_->free(address, granules * granule_), status::ok);
}

memory_info backend_conformance::memory() const {
  memory_info said;
  EXPECT_EQ(device_->query_memory(said), status::ok);
  return said;
}

std::vector<stream> backend_conformance::streams() {
  std::vector<stream> all = GetParam().streams();
  all.insert(all.begin(), default_stream);
  return all;
}

TEST_P(backend_conformance, has_a_name_and_a_granule_that_stay) {
  EXPECT_STRNE(device_->name(), "");
  ASSERT_GT(granule_, 0U);
  EXPECT_EQ(granule_ & (granule_ - 1), 0U) << granule_ << " is no power of two";
  const std::string name = device_->name();
  const bool synchronous = device_->synchronous();
  give_back(lend(1), 1);
  EXPECT_EQ(device_->name(), name);
  EXPECT_EQ(device_->granularity(), granule_);
  EXPECT_EQ(device_->synchronous(), synchronous);
}

TEST_P(backend_conformance, lends_aligned_ranges_that_do_not_overlap) {
  std::map<std::uint64_t, std::size_t> lent;
  for (const std::size_t granules : {1U, 2U, 3U, 5U, 8U, 13U, 1U, 16U}) {
    const std::uint64_t begin = place(lend(granules));
    EXPECT_EQ(begin % std::max<std::uint64_t>(granule_, 512), 0U);
    EXPECT_TRUE(lent.emplace(begin, granules).second);
  }
  std::uint64_t end = 0;
  for (const auto& [begin, granules] : lent) {
    EXPECT_GE(begin, end);
    end = begin + granules * granule_;
  }
  for (const auto& [begin, granules] : lent) give_back(reinterpret_cast<void*>(begin), granules);
}

TEST_P(backend_conformance, says_what_is_free_to_the_byte) {
  const memory_info before = memory();
  EXPECT_LE(before.free_bytes, before.total_bytes);
  void* const first = lend(3);
  void* const second = lend(1);
  EXPECT_EQ(memory().free_bytes, before.free_bytes - 4 * granule_);
  EXPECT_EQ(memory().total_bytes, before.total_bytes);
  give_back(first, 3);
  EXPECT_EQ(memory().free_bytes, before.free_bytes - granule_);
  give_back(second, 1);
  EXPECT_EQ(memory().free_bytes, before.free_bytes);
}

TEST_P(backend_conformance, refuses_more_than_there_is_and_stays_as_it_was) {
  const memory_info before = memory();
  void* const kept = lend(2);
  void* address = nullptr;
  const std::size_t too_much = (before.total_bytes / granule_ + 1) * granule_;
  EXPECT_EQ(device_->allocate(too_much, default_stream, address), status::device_out_of_memory);
  const std::size_t no_longer_there = before.free_bytes / granule_ * granule_;
  EXPECT_EQ(device_->allocate(no_longer_there, default_stream, address), status::device_out_of_memory);
  EXPECT_EQ(memory().free_bytes, before.free_bytes - 2 * granule_);
  give_back(lend(1), 1);
  give_back(kept, 2);
  EXPECT_EQ(memory().free_bytes, before.free_bytes);
}

TEST_P(backend_conformance, lends_all_of_it_and_again_what_came_back) {
  const memory_info before = memory();
  const std::size_t granules = std::max<std::size_t>(before.free_bytes / granule_ / 8, 1);
  std::vector<void*> lent;
  void* address = nullptr;
  status answered = status::ok;
  while ((answered = device_->allocate(granules * granule_, default_stream, address)) == status::ok) {
    lent.push_back(address);
    ASSERT_LE(lent.size() * granules * granule_, before.free_bytes) << "more than it has";
  }
  EXPECT_EQ(answered, status::device_out_of_memory);
  EXPECT_GE(lent.size(), 8U);
  give_back(lent.back(), granules);
  lent.back() = lend(granules);
  for (void* const each : lent) give_back(each, granules);
  EXPECT_EQ(memory().free_bytes, before.free_bytes);
}

TEST_P(backend_conformance, loses_nothing_over_a_thousand_turns) {
  const memory_info before = memory();
  for (std::size_t turn = 0; turn < 1000; ++turn) {
    const std::size_t granules = turn % 7 + 1;
    give_back(lend(granules), granules);
  }
  EXPECT_EQ(memory().free_bytes, before.free_bytes);
}

TEST_P(backend_conformance, lends_for_any_stream) {
  std::vector<stream> every = streams();
  every.push_back(per_thread_stream);
  every.push_back(this_thread_stream());
  for (const stream on : every) {
    void* address = nullptr;
    ASSERT_EQ(device_->allocate(granule_, on, address), status::ok);
    give_back(address, 1);
  }
}

// A synchronous device is never asked for events; that it answers all the same keeps callers simple.
TEST_P(backend_conformance, an_event_passes_and_is_dropped) {
  std::vector<stream> every = streams();
  every.push_back(this_thread_stream());
  for (const stream on : every) {
    event point{};
    ASSERT_EQ(device_->record_event(on, point), status::ok);
    EXPECT_NE(point, event::none);
    EXPECT_EQ(device_->wait_event(point), status::ok);
    bool finished = false;
    EXPECT_EQ(device_->query_event(point, finished), status::ok);
    EXPECT_TRUE(finished) << "it was waited for";
    EXPECT_EQ(device_->wait_event(point), status::ok) << "a second wait returns at once";
    device_->drop_event(point);
  }
}

TEST_P(backend_conformance, events_pass_in_any_order_and_may_be_dropped_unseen) {
  const std::vector<stream> some = streams();
  std::vector<event> points(6);
  for (std::size_t i = 0; i < points.size(); ++i) {
    ASSERT_EQ(device_->record_event(some[i % 2], points[i]), status::ok);
  }
  EXPECT_EQ(device_->wait_event(points[5]), status::ok);
  EXPECT_EQ(device_->wait_event(points[4]), status::ok);
  for (std::size_t i = 0; i < 4; ++i) {
    bool finished = false;
    EXPECT_EQ(device_->query_event(points[i], finished), status::ok);
    EXPECT_TRUE(finished) << "a later point of the same stream has passed";
  }
  for (const event point : points) device_->drop_event(point);
  event unseen{};
  ASSERT_EQ(device_->record_event(default_stream, unseen), status::ok);
  device_->drop_event(unseen);
}

TEST_P(backend_conformance, several_threads_call_at_once) {
  const memory_info before = memory();
  lent_to_threads lent;
  std::vector<std::thread> callers;
  for (const stream on : streams()) {
    callers.emplace_back([this, &lent, &before, on] {
      for (std::size_t turn = 0; turn < 200; ++turn) {
        const std::size_t bytes = (turn % 5 + 1) * granule_;
        void* address = nullptr;
        ASSERT_EQ(device_->allocate(bytes, on, address), status::ok);
        EXPECT_TRUE(lent.insert(address, bytes)) << "two threads have one range";
        memory_info said;
        EXPECT_EQ(device_->query_memory(said), status::ok);
        EXPECT_LE(said.free_bytes, before.free_bytes - bytes);
        event point{};
        EXPECT_EQ(device_->record_event(on, point), status::ok);
        EXPECT_EQ(device_->wait_event(point), status::ok);
        device_->drop_event(point);
        lent.erase(address);
        EXPECT_EQ(device_->free(address, bytes), status::ok);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(memory().free_bytes, before.free_bytes);
}

}  // namespace arcalloc::testing
