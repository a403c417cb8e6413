// SPDX-License-Identifier: Apache-2.0
#include "front_door.hpp"

#include <cstring>
#include <random>
#include <thread>
#include <vector>

namespace arcalloc::testing {

host_world::host_world() {
  allocator* raw = nullptr;
  EXPECT_EQ(allocator::create(device, {}, raw), status::ok);
  memory.reset(raw);
}

counters host_world::now() const {
  counters read;
  memory->read_counters(read);
  return read;
}

void door_in_cpp::drain() {
  EXPECT_EQ(memory_->drain(), status::ok);
  EXPECT_EQ(at_.device.lent_bytes(), 0U);
}

void front_door_contract::SetUp() { door_ = GetParam().make(); }

void front_door_contract::TearDown() {
  const counters c = now();
  EXPECT_EQ(c.blocks_live, 0U) << "the case leaves nothing out";
  EXPECT_EQ(c.requests, c.hits + c.misses + c.bypassed + c.failed);
  door_->drain();
  EXPECT_EQ(now().reserved_bytes, 0U);
}

void* front_door_contract::must_take(std::size_t bytes) {
  void* const address = door_->take(bytes);
  EXPECT_NE(address, nullptr) << bytes;
  return address;
}

namespace {

unsigned char mark_of(std::size_t n) { return static_cast<unsigned char>(n * 37 + 11); }

bool holds(const void* address, std::size_t bytes, unsigned char mark) {
  const auto* const at = static_cast<const unsigned char*>(address);
  for (std::size_t i = 0; i < bytes; ++i) {
    if (at[i] != mark) return false;
  }
  return true;
}

TEST_P(front_door_contract, what_it_hands_out_is_the_allocators_aligned_and_usable_to_its_end) {
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{511}, std::size_t{4096}, std::size_t{3} << 20}) {
    void* const address = must_take(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(address) % block_alignment, 0U);
    std::memset(address, 0x5a, bytes);
    EXPECT_TRUE(holds(address, bytes, 0x5a));
    EXPECT_EQ(now().requested_bytes, bytes);
    door_->give(address, bytes);
  }
}

TEST_P(front_door_contract, what_was_freed_is_found_again_without_the_driver) {
  void* const first = must_take(20000);
  door_->give(first, 20000);
  const std::uint64_t before = now().driver_allocs;
  for (int i = 0; i < 100; ++i) {
    void* const again = must_take(20000);
    EXPECT_EQ(again, first);
    door_->give(again, 20000);
  }
  EXPECT_EQ(now().driver_allocs, before);
  EXPECT_EQ(now().requests, 101U);
  EXPECT_EQ(now().hits, 100U);
  EXPECT_EQ(now().frees, 101U);
}

TEST_P(front_door_contract, a_refusal_is_told_changes_nothing_and_the_next_call_works) {
  void* const kept = must_take(1 << 20);
  const counters before = now();
  EXPECT_EQ(door_->take(door_device_bytes + 1), nullptr);
  EXPECT_EQ(now().failed, before.failed + 1);
  EXPECT_EQ(now().allocated_bytes, before.allocated_bytes);
  EXPECT_EQ(now().blocks_live, 1U);
  void* const next = must_take(1 << 20);
  door_->give(next, 1 << 20);
  door_->give(kept, 1 << 20);
}

TEST_P(front_door_contract, a_size_that_cannot_be_is_refused) {
  EXPECT_EQ(door_->take(request_bytes_max + 1), nullptr);
  EXPECT_EQ(now().blocks_live, 0U);
}

TEST_P(front_door_contract, blocks_do_not_overlap_and_keep_their_contents) {
  struct held {
    void* address;
    std::size_t bytes;
    unsigned char mark;
  };
  std::mt19937_64 draw(7);
  std::vector<held> live;
  for (std::size_t i = 0; i < 3000; ++i) {
    if (live.size() < 40 && draw() % 3 != 0) {
      const std::size_t bytes = 1 + draw() % (draw() % 8 == 0 ? 400000 : 9000);
      live.push_back({must_take(bytes), bytes, mark_of(i)});
      std::memset(live.back().address, live.back().mark, bytes);
    } else if (!live.empty()) {
      std::swap(live[draw() % live.size()], live.back());
      EXPECT_TRUE(holds(live.back().address, live.back().bytes, live.back().mark));
      door_->give(live.back().address, live.back().bytes);
      live.pop_back();
    }
  }
  for (const held& each : live) {
    EXPECT_TRUE(holds(each.address, each.bytes, each.mark));
    door_->give(each.address, each.bytes);
  }
  EXPECT_EQ(now().allocated_bytes, 0U);
}

TEST_P(front_door_contract, threads_use_it_at_once_and_free_what_others_took) {
  constexpr std::size_t threads = 4;
  std::vector<std::vector<void*>> taken(threads);
  std::vector<std::thread> running;
  for (std::size_t t = 0; t < threads; ++t) {
    running.emplace_back([&, t] {
      for (std::size_t i = 0; i < 200; ++i) {
        void* const address = door_->take(3000);
        if (address == nullptr) return;
        std::memset(address, mark_of(t), 3000);
        if (i % 2 == 0) {
          taken[t].push_back(address);
        } else {
          door_->give(address, 3000);
        }
      }
    });
  }
  for (std::thread& one : running) one.join();
  running.clear();
  for (std::size_t t = 0; t < threads; ++t) {
    EXPECT_EQ(taken[t].size(), 100U);
    running.emplace_back([&, t] {
      for (void* const address : taken[(t + 1) % threads]) {
        if (holds(address, 3000, mark_of((t + 1) % threads))) door_->give(address, 3000);
      }
    });
  }
  for (std::thread& one : running) one.join();
}

}  // namespace

}  // namespace arcalloc::testing
