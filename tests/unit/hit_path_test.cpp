// SPDX-License-Identifier: Apache-2.0
// What a hit asks of others: nothing. Every call that the library makes to the driver, for an event, a lock or host
// memory is counted; that a hit has no atomic read-modify-write is read off its code (tests/instructions).
#include <arcalloc/arcalloc.h>
#include <gtest/gtest.h>
#include <pthread.h>

#include <arcalloc/allocator.hpp>
#include <array>
#include <ostream>
#include <random>
#include <utility>
#include <vector>

#include "sizes_and_streams.hpp"

namespace {

struct outside_calls {
  int driver = 0;
  int events = 0;
  int locks = 0;
  int host_memory = 0;

  bool operator==(const outside_calls&) const = default;
};

std::ostream& operator<<(std::ostream& out, const outside_calls& made) {
  return out << made.driver << " driver calls, " << made.events << " events, " << made.locks << " locks, "
             << made.host_memory << " requests of host memory";
}

thread_local outside_calls calls;

}  // namespace

// The linker has every object of this program call these instead of the functions of the C library.
extern "C" {
int __real_pthread_mutex_lock(pthread_mutex_t* mutex);
void* __real_malloc(std::size_t bytes);
void* __real_calloc(std::size_t count, std::size_t bytes);
void* __real_realloc(void* address, std::size_t bytes);
void* __real_aligned_alloc(std::size_t alignment, std::size_t bytes);
void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int file, long offset);

int __wrap_pthread_mutex_lock(pthread_mutex_t* mutex) {
  ++calls.locks;
  return __real_pthread_mutex_lock(mutex);
}
void* __wrap_malloc(std::size_t bytes) {
  ++calls.host_memory;
  return __real_malloc(bytes);
}
void* __wrap_calloc(std::size_t count, std::size_t bytes) {
  ++calls.host_memory;
  return __real_calloc(count, bytes);
}
void* __wrap_realloc(void* address, std::size_t bytes) {
  ++calls.host_memory;
  return __real_realloc(address, bytes);
}
void* __wrap_aligned_alloc(std::size_t alignment, std::size_t bytes) {
  ++calls.host_memory;
  return __real_aligned_alloc(alignment, bytes);
}
void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int file, long offset) {
  ++calls.host_memory;
  return __real_mmap(address, bytes, protection, flags, file, offset);
}
}

namespace arcalloc {
namespace {

/// Addresses without memory behind them, as much as is asked for; work is never known to have finished without an
/// event.
class counting_device final : public backend {
 public:
  const char* name() const noexcept override { return "counting"; }
  std::size_t granularity() const noexcept override { return std::size_t{2} << 20; }
  status allocate(std::size_t bytes, stream, void*& address) noexcept override {
    ++calls.driver;
    address = reinterpret_cast<void*>(next_);
    next_ += bytes;
    return status::ok;
  }
  status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    return allocate(bytes, on, address);
  }
  status free(void*, std::size_t) noexcept override {
    ++calls.driver;
    return status::ok;
  }
  status query_memory(memory_info& out) const noexcept override {
    ++calls.driver;
    out.total_bytes = out.free_bytes = std::uint64_t{1} << 40;
    return status::ok;
  }
  status record_event(stream, event& out) noexcept override {
    ++calls.events;
    out = event{1};
    return status::ok;
  }
  status query_event(event, bool& finished) noexcept override {
    ++calls.events;
    finished = true;
    return status::ok;
  }
  status wait_event(event) noexcept override {
    ++calls.events;
    return status::ok;
  }
  void drop_event(event) noexcept override { ++calls.events; }

 private:
  std::uint64_t next_ = std::uint64_t{1} << 32;
};

using testing::kib;
using testing::mib;
using testing::s1;
using testing::s2;

struct engine {
  engine() {
    allocator* raw = nullptr;
    EXPECT_EQ(allocator::create(device, {}, raw), status::ok);
    memory.reset(raw);
  }
  block get(std::size_t bytes, stream on = s1) {
    block piece;
    EXPECT_EQ(memory->allocate(bytes, on, piece), status::ok);
    return piece;
  }
  counters now() const {
    counters said;
    memory->read_counters(said);
    return said;
  }

  counting_device device;
  allocator_ptr memory;
};

/// What was asked of others in the second of two calls; the first is to fetch what will be hit.
template <class Call>
outside_calls asked_again(Call call) {
  call();
  calls = {};
  call();
  return calls;
}

TEST(hit_path, is_watched_from_everywhere) {
  engine at;
  calls = {};
  const block piece = at.get(4 * kib);
  EXPECT_GT(calls.driver, 0);
  EXPECT_GT(calls.locks, 0);
  EXPECT_GT(calls.host_memory, 0);
  ASSERT_EQ(at.memory->note_use(piece, s2), status::ok);
  EXPECT_EQ(calls.events, 0);
  ASSERT_EQ(at.memory->deallocate(piece), status::ok);
  EXPECT_GT(calls.events, 0);
}

TEST(hit_path, by_handle_asks_nothing_of_others) {
  engine at;
  const block beside = at.get(4 * kib);
  EXPECT_EQ(asked_again([&] { EXPECT_EQ(at.memory->deallocate(at.get(4 * kib)), status::ok); }), outside_calls{});
  EXPECT_EQ(asked_again([&] { EXPECT_EQ(at.memory->deallocate(at.get(4 * kib), s1), status::ok); }), outside_calls{});
  EXPECT_EQ(at.now().stream_cache_hits, 4U);
  EXPECT_EQ(at.memory->deallocate(beside), status::ok);
}

TEST(hit_path, by_address_asks_nothing_of_others) {
  engine at;
  const block beside = at.get(4 * kib);
  EXPECT_EQ(asked_again([&] { EXPECT_EQ(at.memory->deallocate(at.get(4 * kib).data()), status::ok); }),
            outside_calls{});
  EXPECT_EQ(asked_again([&] { EXPECT_EQ(at.memory->deallocate(at.get(4 * kib).data(), 4 * kib), status::ok); }),
            outside_calls{});
  EXPECT_EQ(asked_again([&] { EXPECT_EQ(at.memory->deallocate(at.get(4 * kib).data(), s1), status::ok); }),
            outside_calls{});
  EXPECT_EQ(at.now().stream_cache_hits, 6U);
  EXPECT_EQ(at.memory->deallocate(beside), status::ok);
}

TEST(hit_path, of_every_size_that_shares_segments_asks_nothing_of_others) {
  engine at;
  std::vector<block> out;
  const auto all_sizes = [&] {
    for (std::size_t bytes = 1; bytes <= 8 * mib; bytes += bytes / 2 + 1) out.push_back(at.get(bytes));
    for (const block& piece : out) EXPECT_EQ(at.memory->deallocate(piece), status::ok);
    out.clear();
  };
  EXPECT_EQ(asked_again(all_sizes), outside_calls{});
}

TEST(hit_path, of_the_only_block_of_a_segment_asks_nothing_of_others) {
  engine at;
  EXPECT_EQ(asked_again([&] { EXPECT_EQ(at.memory->deallocate(at.get(4 * kib)), status::ok); }), outside_calls{});
}

TEST(hit_path, of_more_blocks_than_a_run_holds_asks_nothing_of_others) {
  engine at;
  std::vector<block> out(300);
  const auto many = [&] {
    for (block& piece : out) piece = at.get(4 * kib);
    for (const block& piece : out) EXPECT_EQ(at.memory->deallocate(piece), status::ok);
  };
  EXPECT_EQ(asked_again(many), outside_calls{});
  EXPECT_EQ(at.now().driver_allocs, 1U);
}

TEST(hit_path, of_streams_in_turn_asks_nothing_of_others) {
  engine at;
  // Else each stream would take over what the other one left idle, which is the pool's to do.
  const block beside[] = {at.get(4 * kib, s1), at.get(4 * kib, s2)};
  const auto both = [&] {
    for (const stream on : {s1, s2}) EXPECT_EQ(at.memory->deallocate(at.get(4 * kib, on)), status::ok);
  };
  EXPECT_EQ(asked_again(both), outside_calls{});
  for (const block& piece : beside) EXPECT_EQ(at.memory->deallocate(piece), status::ok);
}

TEST(hit_path, of_allocators_in_turn_asks_nothing_of_others) {
  std::array<engine, 3> all;
  const auto each = [&] {
    for (engine& at : all) EXPECT_EQ(at.memory->deallocate(at.get(4 * kib)), status::ok);
  };
  EXPECT_EQ(asked_again(each), outside_calls{});
}

/// Draws calls, and says which memory each request got.
class drawn_calls {
 public:
  explicit drawn_calls(engine& at) : at_(at) {}

  void one() {
    if (live_.empty() || (live_.size() < 1500 && draw_() % 8 < (growing_ ? 5 : 3))) {
      const std::size_t sizes[] = {500, 3 * kib, 20 * kib};
      live_.push_back(at_.get(sizes[draw_() % 3]));
      said.push_back(live_.back().data());
    } else {
      std::swap(live_[draw_() % live_.size()], live_.back());
      EXPECT_EQ(at_.memory->deallocate(live_.back()), status::ok);
      live_.pop_back();
    }
    if (++calls_ % 4000 == 0) growing_ = !growing_;
  }

  std::vector<void*> said;

 private:
  engine& at_;
  std::minstd_rand draw_{7};
  std::vector<block> live_;
  std::uint64_t calls_ = 0;
  bool growing_ = true;
};

TEST(hit_path, takes_what_the_way_beside_it_would_take) {
  engine in_a_row, in_turn, other;
  drawn_calls hits(in_a_row), beside(in_turn), between(other);
  for (int i = 0; i < 40'000; ++i) hits.one();
  // The thread's last allocator is always another one here, so that no call is answered on the hit path.
  for (int i = 0; i < 40'000; ++i) {
    beside.one();
    between.one();
  }
  EXPECT_GT(in_a_row.now().stream_cache_hits, 10'000U);
  EXPECT_EQ(hits.said, beside.said);
}

TEST(hit_path, of_the_c_interface_asks_nothing_of_others) {
  arcalloc_device* device = nullptr;
  arcalloc_allocator* memory = nullptr;
  ASSERT_EQ(arcalloc_host_device_create(64 * mib, &device), ARCALLOC_OK);
  ASSERT_EQ(arcalloc_create(device, nullptr, &memory), ARCALLOC_OK);
  const auto each_way = [&] {
    arcalloc_block piece;
    EXPECT_EQ(arcalloc_allocate(memory, 4 * kib, 1, &piece), ARCALLOC_OK);
    EXPECT_EQ(arcalloc_deallocate(memory, piece), ARCALLOC_OK);
    EXPECT_EQ(arcalloc_allocate(memory, 4 * kib, 1, &piece), ARCALLOC_OK);
    EXPECT_EQ(arcalloc_deallocate_address(memory, piece.address), ARCALLOC_OK);
  };
  EXPECT_EQ(asked_again(each_way), outside_calls{});
  arcalloc_destroy(memory);
  EXPECT_EQ(arcalloc_device_destroy(device), ARCALLOC_OK);
}

}  // namespace
}  // namespace arcalloc
