// SPDX-License-Identifier: Apache-2.0
// A C caller's functions as a device: what is passed on, and what is not believed.

#include "c_backend.hpp"
#include "sizes_and_streams.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace arcalloc::detail {
namespace {

using testing::s1;

/// What the caller's functions are asked, and what they answer.
struct caller {
  arcalloc_status answer = ARCALLOC_OK;
  void* lent = nullptr;
  std::uint64_t recorded = 7;
  std::int32_t finished = 1;
  std::size_t bytes = 0;
  std::uint64_t asked = 0;  ///< the stream or the event
  int freed = 0;
  int dropped = 0;
};

caller& of(void* context) { return *static_cast<caller*>(context); }

arcalloc_backend functions_of(caller& own) {
  arcalloc_backend out{};
  out.size = sizeof out;
  out.granularity = 1024;
  out.name = "own";
  out.context = &own;
  out.allocate = [](void* context, std::size_t bytes, arcalloc_stream on, void** address) {
    of(context).bytes = bytes;
    of(context).asked = on;
    *address = of(context).lent;
    return of(context).answer;
  };
  out.free = [](void* context, void*, std::size_t bytes) {
    of(context).bytes = bytes;
    ++of(context).freed;
    return of(context).answer;
  };
  out.query_memory = [](void* context, std::uint64_t* free_bytes, std::uint64_t* total_bytes) {
    *free_bytes = 5;
    *total_bytes = 9;
    return of(context).answer;
  };
  out.record_event = [](void* context, arcalloc_stream on, std::uint64_t* point) {
    of(context).asked = on;
    *point = of(context).recorded;
    return of(context).answer;
  };
  out.query_event = [](void* context, std::uint64_t point, std::int32_t* finished) {
    of(context).asked = point;
    *finished = of(context).finished;
    return of(context).answer;
  };
  out.wait_event = [](void* context, std::uint64_t point) {
    of(context).asked = point;
    return of(context).answer;
  };
  out.drop_event = [](void* context, std::uint64_t) { ++of(context).dropped; };
  return out;
}

void* at(std::uint64_t number) { return reinterpret_cast<void*>(number); }

TEST(caller_backend, passes_on_what_it_is_asked) {
  caller own;
  own.lent = at(4096);
  caller_backend device(functions_of(own));
  EXPECT_STREQ(device.name(), "own");
  EXPECT_EQ(device.granularity(), 1024U);
  EXPECT_FALSE(device.synchronous());
  void* address = nullptr;
  EXPECT_EQ(device.allocate(2048, s1, address), status::ok);
  EXPECT_EQ(address, own.lent);
  EXPECT_EQ(own.bytes, 2048U);
  EXPECT_EQ(own.asked, 1U);
  EXPECT_EQ(device.free(address, 1024), status::ok);
  EXPECT_EQ(own.bytes, 1024U);
  memory_info said;
  EXPECT_EQ(device.query_memory(said), status::ok);
  EXPECT_EQ(said.free_bytes, 5U);
  EXPECT_EQ(said.total_bytes, 9U);
  event point = event::none;
  EXPECT_EQ(device.record_event(s1, point), status::ok);
  EXPECT_EQ(point, event{7});
  EXPECT_EQ(device.wait_event(point), status::ok);
  EXPECT_EQ(own.asked, 7U);
  device.drop_event(point);
  EXPECT_EQ(own.dropped, 1);
}

TEST(caller_backend, believes_no_status_that_a_device_cannot_mean) {
  caller own;
  own.lent = at(4096);
  caller_backend device(functions_of(own));
  for (const arcalloc_status answer : {-1, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 99}) {
    own.answer = answer;
    const bool possible = answer == ARCALLOC_DEVICE_OUT_OF_MEMORY || answer == ARCALLOC_BACKEND_UNAVAILABLE ||
                          answer == ARCALLOC_SHUTTING_DOWN;
    const status expected = possible ? static_cast<status>(answer) : status::backend_failed;
    void* address = at(1);
    EXPECT_EQ(device.allocate(1024, s1, address), expected) << answer;
    EXPECT_EQ(address, nullptr) << "nothing was lent";
    EXPECT_EQ(device.free(at(4096), 1024), expected) << answer;
    memory_info said{3, 4};
    EXPECT_EQ(device.query_memory(said), expected) << answer;
    EXPECT_EQ(said.free_bytes, 3U) << "as it was";
    event point = event{55};
    EXPECT_EQ(device.record_event(s1, point), expected) << answer;
    EXPECT_EQ(point, event{55});
    bool finished = true;
    EXPECT_EQ(device.query_event(event{7}, finished), expected) << answer;
    EXPECT_FALSE(finished) << "a driver that cannot say has not finished";
    EXPECT_EQ(device.wait_event(event{7}), expected) << answer;
  }
}

TEST(caller_backend, believes_no_address_that_is_null_or_misaligned_and_gives_it_back) {
  caller own;
  caller_backend device(functions_of(own));
  void* address = at(1);
  EXPECT_EQ(device.allocate(1024, s1, address), status::backend_failed);
  EXPECT_EQ(own.freed, 0);
  for (const std::uint64_t wrong : {1U, 512U, 1536U, 4095U, 4097U}) {
    own.lent = at(wrong);
    own.freed = 0;
    EXPECT_EQ(device.allocate(3072, s1, address), status::backend_failed) << wrong;
    EXPECT_EQ(address, nullptr);
    EXPECT_EQ(own.freed, 1) << "what cannot be used is not kept";
    EXPECT_EQ(own.bytes, 3072U);
  }
  arcalloc_backend fine = functions_of(own);
  fine.granularity = 1;
  caller_backend finer(fine);
  own.lent = at(256);
  EXPECT_EQ(finer.allocate(3, s1, address), status::backend_failed) << "aligned to 512 at least";
  own.lent = at(512);
  EXPECT_EQ(finer.allocate(3, s1, address), status::ok);
}

TEST(caller_backend, believes_no_event_0_and_no_answer_that_is_no_truth_value) {
  caller own;
  caller_backend device(functions_of(own));
  own.recorded = 0;
  event point = event{55};
  EXPECT_EQ(device.record_event(s1, point), status::backend_failed);
  EXPECT_EQ(point, event{55});
  const std::pair<std::int32_t, status> answers[] = {
      {0, status::ok}, {1, status::ok}, {2, status::backend_failed}, {-1, status::backend_failed}};
  for (const auto& [answer, expected] : answers) {
    own.finished = answer;
    bool finished = answer != 1;
    EXPECT_EQ(device.query_event(event{7}, finished), expected) << answer;
    EXPECT_EQ(finished, answer == 1) << answer;
    EXPECT_EQ(own.asked, 7U);
  }
}

TEST(caller_backend, needs_no_event_functions_where_work_is_done_at_once) {
  caller own;
  arcalloc_backend functions = functions_of(own);
  functions.synchronous = 1;
  functions.name = nullptr;
  functions.record_event = nullptr;
  functions.query_event = nullptr;
  functions.wait_event = nullptr;
  functions.drop_event = nullptr;
  ASSERT_TRUE(caller_backend::complete(functions));
  caller_backend device(functions);
  EXPECT_STREQ(device.name(), "caller");
  EXPECT_TRUE(device.synchronous());
  event point = event::none;
  EXPECT_EQ(device.record_event(s1, point), status::ok);
  EXPECT_NE(point, event::none);
  bool finished = false;
  EXPECT_EQ(device.query_event(point, finished), status::ok);
  EXPECT_TRUE(finished);
  EXPECT_EQ(device.wait_event(point), status::ok);
  device.drop_event(point);
}

TEST(caller_backend, lends_beside_a_capture_only_where_the_caller_can) {
  caller own;
  own.lent = at(4096);
  arcalloc_backend functions = functions_of(own);
  caller_backend without(functions);
  void* address = nullptr;
  EXPECT_EQ(without.allocate_beside_capture(1024, s1, address), status::capture_miss);
  functions.allocate_beside_capture = functions.allocate;
  functions.allocate = [](void*, std::size_t, arcalloc_stream, void**) {
    return arcalloc_status{ARCALLOC_SHUTTING_DOWN};
  };
  caller_backend with(functions);
  EXPECT_EQ(with.allocate_beside_capture(1024, s1, address), status::ok);
  EXPECT_EQ(address, own.lent);
}

TEST(caller_backend, is_complete_with_every_function_and_a_granule_that_can_be) {
  caller own;
  const arcalloc_backend whole = functions_of(own);
  EXPECT_TRUE(caller_backend::complete(whole));
  const auto but = [&](auto change) {
    arcalloc_backend changed = whole;
    change(changed);
    return caller_backend::complete(changed);
  };
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.allocate = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.free = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.query_memory = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.record_event = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.query_event = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.wait_event = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.drop_event = nullptr; }));
  EXPECT_FALSE(but([](arcalloc_backend& of) { of.synchronous = 2; }));
  for (const std::uint64_t granule :
       {std::uint64_t{0}, std::uint64_t{3}, std::uint64_t{1536}, std::uint64_t{1} << 63}) {
    EXPECT_FALSE(but([&](arcalloc_backend& of) { of.granularity = granule; })) << granule;
  }
  for (const std::uint64_t granule : {std::uint64_t{1}, std::uint64_t{512}, std::uint64_t{1} << 62}) {
    EXPECT_TRUE(but([&](arcalloc_backend& of) { of.granularity = granule; })) << granule;
  }
}

}  // namespace
}  // namespace arcalloc::detail
