// SPDX-License-Identifier: Apache-2.0
// Each rule of the driver's documentation that the fake follows (docs/cuda.md has the sources): a check that holds on
// the fake as it is, and does not hold when that rule, and no other, is broken.
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "loaded_fake.hpp"
#include "support/sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using cuda::capture_mode;
using cuda::capture_status;
using cuda::event_handle;
using cuda::result;
using cuda::stream_handle;
using fake_cuda::rule;
using testing::at;
using testing::blocking;
using testing::loaded_fake;
using testing::mib;
using testing::non_blocking;

event_handle* recorded(stream_handle* on) {
  event_handle* made = nullptr;
  if (at().create_event(&made, 2) != result::success) return nullptr;
  return at().record(made, on) == result::success ? made : nullptr;
}
/// What an event recorded there now says.
result queried(stream_handle* on) { return at().query(recorded(on)); }
stream_handle* busy_stream(unsigned int flags) {
  stream_handle* const made = at().make_stream(flags);
  at().fake.device(0).busy(at().number(made));
  return made;
}
cuda::device_address lent(std::size_t bytes) {
  cuda::device_address address = 0;
  return at().allocate(&address, bytes) == result::success ? address : 0;
}
std::size_t free_bytes() {
  std::size_t free = 0;
  std::size_t total = 0;
  return at().info(&free, &total) == result::success ? free : 0;
}
capture_status status_of(stream_handle* on, std::uint64_t* id = nullptr) {
  capture_status found = capture_status::none;
  std::uint64_t ignored = 0;
  return at().capture_info(on, &found, id != nullptr ? id : &ignored) == result::success ? found : capture_status::none;
}
stream_handle* captured_stream(unsigned int flags = non_blocking) {
  stream_handle* const made = at().make_stream(flags);
  return at().begin_capture(made, capture_mode::global) == result::success ? made : nullptr;
}

bool calls_need_init() {
  int count = 0;
  return at().device_count(&count) == result::not_initialized;
}

bool calls_need_a_context() {
  cuda::context_handle* popped = nullptr;
  (void)at().pop(&popped);
  cuda::device_address address = 0;
  return at().allocate(&address, mib) == result::invalid_context;
}

bool no_memory_of_zero_bytes() {
  cuda::device_address address = 0;
  return at().allocate(&address, 0) == result::invalid_value;
}

bool out_of_memory_is_said() {
  const std::size_t before = free_bytes();
  cuda::device_address address = 0;
  return at().allocate(&address, before + mib) == result::out_of_memory && free_bytes() == before;
}

bool unknown_pointers_are_refused() { return at().free(0x1234000) == result::invalid_value; }

bool free_synchronises() {
  event_handle* const point = recorded(busy_stream(non_blocking));
  return at().free(lent(mib)) == result::success && at().query(point) == result::success;
}

cuda::pool_handle* made_pool() {
  const cuda::pool_properties wanted;
  cuda::pool_handle* pool = nullptr;
  return at().create_pool(&pool, &wanted) == result::success ? pool : nullptr;
}

bool pool_free_does_not_synchronise() {
  cuda::device_address address = 0;
  const result lending = at().allocate_from(&address, mib, made_pool(), at().make_stream(non_blocking));
  event_handle* const point = recorded(busy_stream(non_blocking));
  return lending == result::success && at().free(address) == result::success && at().query(point) == result::not_ready;
}

bool pool_keeps_until_trimmed() {
  const std::size_t before = free_bytes();
  cuda::pool_handle* const pool = made_pool();
  cuda::device_address address = 0;
  if (at().allocate_from(&address, 64 * mib, pool, nullptr) != result::success) return false;
  if (at().free(address) != result::success || free_bytes() != before - 64 * mib) return false;
  return at().trim_pool(pool, 0) == result::success && free_bytes() == before;
}

bool unrecorded_events_have_passed() {
  event_handle* made = nullptr;
  return at().create_event(&made, 2) == result::success && at().query(made) == result::success;
}

bool query_tells_unfinished_work() { return queried(busy_stream(non_blocking)) == result::not_ready; }

bool recording_overwrites() {
  event_handle* const point = recorded(at().make_stream(non_blocking));
  return at().record(point, busy_stream(non_blocking)) == result::success && at().query(point) == result::not_ready;
}

bool destroying_an_event_does_not_wait() {
  stream_handle* const on = busy_stream(non_blocking);
  event_handle* const destroyed = recorded(on);
  event_handle* const point = recorded(on);
  return at().destroy_event(destroyed) == result::success && at().query(point) == result::not_ready;
}

bool synchronising_waits() {
  event_handle* const point = recorded(busy_stream(non_blocking));
  return at().synchronise(point) == result::success && at().query(point) == result::success;
}

bool waiting_for_an_event_orders() {
  event_handle* const point = recorded(busy_stream(non_blocking));
  stream_handle* const later = at().make_stream(non_blocking);
  return at().wait(later, point, 0) == result::success && queried(later) == result::not_ready;
}

bool legacy_stream_orders_blocking_ones() {
  (void)busy_stream(blocking);
  return queried(nullptr) == result::not_ready;
}

bool non_blocking_streams_are_apart() {
  (void)busy_stream(non_blocking);
  return queried(nullptr) == result::success;
}

bool threads_have_their_own_streams() {
  stream_handle* const own = loaded_fake::special(cuda::per_thread_stream_number);
  at().fake.device(0).busy(at().number(own));
  result there = result::unknown;
  at().elsewhere([&] { there = queried(own); });
  return there == result::success && queried(own) == result::not_ready;
}

bool unsafe_calls_fail_in_a_capture() {
  (void)captured_stream();
  result there = result::unknown;
  cuda::device_address address = 0;
  at().elsewhere([&] { there = at().allocate(&address, mib); });
  return there == result::capture_unsupported;
}

bool unsafe_calls_invalidate() {
  stream_handle* const on = captured_stream();
  return lent(mib) == 0 && status_of(on) == capture_status::invalidated;
}

bool relaxed_mode_permits() {
  stream_handle* const on = captured_stream();
  capture_mode mode = capture_mode::relaxed;
  (void)at().exchange(&mode);
  const bool is_lent = lent(mib) != 0;
  mode = capture_mode::global;
  (void)at().exchange(&mode);
  return is_lent && status_of(on) == capture_status::ongoing;
}

bool exchange_gives_the_former_mode() {
  capture_mode mode = capture_mode::relaxed;
  (void)at().exchange(&mode);
  const bool was_global = mode == capture_mode::global;
  mode = capture_mode::global;
  (void)at().exchange(&mode);
  return was_global && mode == capture_mode::relaxed;
}

bool legacy_stream_is_not_captured() {
  return at().begin_capture(nullptr, capture_mode::global) == result::capture_unsupported;
}

bool capture_ends_where_it_began() {
  stream_handle* const on = captured_stream();
  stream_handle* const joined = at().make_stream(non_blocking);
  fake_cuda::graph_handle* graph = nullptr;
  return at().wait(joined, recorded(on), 0) == result::success &&
         at().end_capture(joined, &graph) == result::capture_unmatched;
}

bool capture_ends_on_its_thread() {
  stream_handle* const on = captured_stream();
  fake_cuda::graph_handle* graph = nullptr;
  result there = result::unknown;
  at().elsewhere([&] { there = at().end_capture(on, &graph); });
  return there == result::capture_wrong_thread;
}

bool invalidated_captures_give_no_graph() {
  stream_handle* const on = captured_stream();
  fake_cuda::graph_handle* graph = nullptr;
  return lent(mib) == 0 && at().end_capture(on, &graph) == result::capture_invalidated && graph == nullptr;
}

/// A graph that works on the memory.
fake_cuda::graph_handle* captured_work_on(cuda::device_address address) {
  stream_handle* const on = captured_stream();
  fake_cuda::graph_handle* graph = nullptr;
  if (at().set(address, 0, mib, on) != result::success) return nullptr;
  return at().end_capture(on, &graph) == result::success ? graph : nullptr;
}

bool captured_work_is_not_done() {
  const cuda::device_address address = lent(mib);
  at().fake.device(0).busy(at().number(nullptr));
  fake_cuda::graph_handle* const graph = captured_work_on(address);
  return graph != nullptr && at().free(address) == result::success && at().fake.convictions(0).empty();
}

bool launches_do_the_work() {
  const cuda::device_address address = lent(mib);
  fake_cuda::graph_handle* const graph = captured_work_on(address);
  fake_cuda::graph_handle* executable = nullptr;
  if (at().instantiate(&executable, graph, 0) != result::success) return false;
  if (at().launch(executable, busy_stream(non_blocking)) != result::success) return false;
  (void)at().free(address);
  return at().fake.convictions(0).size() == 1;
}

bool captured_events_are_not_queried() {
  stream_handle* const on = captured_stream();
  event_handle* const point = recorded(on);
  fake_cuda::graph_handle* graph = nullptr;
  return at().end_capture(on, &graph) == result::success && at().query(point) == result::captured_event;
}

bool captures_have_ids() {
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  (void)status_of(captured_stream(), &first);
  (void)status_of(captured_stream(), &second);
  return first != 0 && second != 0 && first != second;
}

bool legacy_queries_are_implicit() {
  stream_handle* const on = captured_stream(blocking);
  capture_status found = capture_status::none;
  std::uint64_t id = 0;
  return at().capture_info(nullptr, &found, &id) == result::capture_implicit &&
         status_of(on) == capture_status::ongoing;
}

bool captures_are_isolated() {
  event_handle* const outside = recorded(at().make_stream(non_blocking));
  stream_handle* const on = captured_stream();
  return at().wait(on, outside, 0) == result::capture_isolation && status_of(on) == capture_status::invalidated;
}

bool copies_follow_their_stream() {
  const cuda::device_address address = lent(mib);
  stream_handle* const on = at().make_stream(non_blocking);
  unsigned char found = 0;
  if (at().set(address, 0x11, mib, on) != result::success) return false;
  if (at().copy_to_host_on(&found, address + 5, 1, on) != result::success || found != 0) return false;
  return at().synchronise_stream(on) == result::success && found == 0x11;
}

bool contexts_take_their_memory_along() {
  cuda::context_handle* made = nullptr;
  if (at().create_context(&made, 0, 0) != result::success) return false;
  const std::size_t before = free_bytes();
  if (lent(mib) == 0) return false;
  auto* const destroy = at().find<decltype(cuCtxDestroy_v2)>("cuCtxDestroy_v2");
  return destroy(made) == result::success && free_bytes() == before;
}
bool async_frees_follow_their_stream() {
  auto* const allocate = at().find<decltype(cuMemAllocAsync)>("cuMemAllocAsync");
  auto* const free = at().find<decltype(cuMemFreeAsync)>("cuMemFreeAsync");
  stream_handle* const first = at().make_stream(non_blocking);
  stream_handle* const second = at().make_stream(non_blocking);
  cuda::device_address former = 0;
  cuda::device_address address = 0;
  unsigned char found = 0;
  const bool reused = allocate(&former, mib, first) == result::success &&
                      at().set(former, 7, mib, first) == result::success && free(former, first) == result::success &&
                      allocate(&address, mib, second) == result::success && address == former;
  // The work before the free does not write into what the next one has.
  return reused && at().set(address, 9, mib, second) == result::success &&
         at().synchronise_stream(second) == result::success && at().synchronise_stream(first) == result::success &&
         at().copy_to_host(&found, address, 1) == result::success && found == 9;
}
bool lookups_give_what_the_version_has() {
  auto* const look_up = at().find<decltype(cuGetProcAddress)>("cuGetProcAddress");
  void* found = nullptr;
  const bool is_there = look_up("cuMemAllocAsync", &found, 11020, 0) == result::success && found != nullptr;
  return is_there && look_up("cuMemAllocAsync", &found, 11010, 0) == result::not_found;
}

struct checked_rule {
  rule which;
  const char* name;
  bool (*holds)();
};

constexpr checked_rule rules[] = {
    {rule::calls_need_init, "calls_need_init", calls_need_init},
    {rule::calls_need_a_context, "calls_need_a_context", calls_need_a_context},
    {rule::no_memory_of_zero_bytes, "no_memory_of_zero_bytes", no_memory_of_zero_bytes},
    {rule::out_of_memory_is_said, "out_of_memory_is_said", out_of_memory_is_said},
    {rule::unknown_pointers_are_refused, "unknown_pointers_are_refused", unknown_pointers_are_refused},
    {rule::free_synchronises, "free_synchronises", free_synchronises},
    {rule::pool_free_does_not_synchronise, "pool_free_does_not_synchronise", pool_free_does_not_synchronise},
    {rule::pool_keeps_until_trimmed, "pool_keeps_until_trimmed", pool_keeps_until_trimmed},
    {rule::unrecorded_events_have_passed, "unrecorded_events_have_passed", unrecorded_events_have_passed},
    {rule::query_tells_unfinished_work, "query_tells_unfinished_work", query_tells_unfinished_work},
    {rule::recording_overwrites, "recording_overwrites", recording_overwrites},
    {rule::destroying_an_event_does_not_wait, "destroying_an_event_does_not_wait", destroying_an_event_does_not_wait},
    {rule::synchronising_waits, "synchronising_waits", synchronising_waits},
    {rule::waiting_for_an_event_orders, "waiting_for_an_event_orders", waiting_for_an_event_orders},
    {rule::legacy_stream_orders_blocking_ones, "legacy_stream_orders_blocking_ones",
     legacy_stream_orders_blocking_ones},
    {rule::non_blocking_streams_are_apart, "non_blocking_streams_are_apart", non_blocking_streams_are_apart},
    {rule::threads_have_their_own_streams, "threads_have_their_own_streams", threads_have_their_own_streams},
    {rule::unsafe_calls_fail_in_a_capture, "unsafe_calls_fail_in_a_capture", unsafe_calls_fail_in_a_capture},
    {rule::unsafe_calls_invalidate, "unsafe_calls_invalidate", unsafe_calls_invalidate},
    {rule::relaxed_mode_permits, "relaxed_mode_permits", relaxed_mode_permits},
    {rule::exchange_gives_the_former_mode, "exchange_gives_the_former_mode", exchange_gives_the_former_mode},
    {rule::legacy_stream_is_not_captured, "legacy_stream_is_not_captured", legacy_stream_is_not_captured},
    {rule::capture_ends_where_it_began, "capture_ends_where_it_began", capture_ends_where_it_began},
    {rule::capture_ends_on_its_thread, "capture_ends_on_its_thread", capture_ends_on_its_thread},
    {rule::invalidated_captures_give_no_graph, "invalidated_captures_give_no_graph",
     invalidated_captures_give_no_graph},
    {rule::captured_work_is_not_done, "captured_work_is_not_done", captured_work_is_not_done},
    {rule::launches_do_the_work, "launches_do_the_work", launches_do_the_work},
    {rule::captured_events_are_not_queried, "captured_events_are_not_queried", captured_events_are_not_queried},
    {rule::captures_have_ids, "captures_have_ids", captures_have_ids},
    {rule::legacy_queries_are_implicit, "legacy_queries_are_implicit", legacy_queries_are_implicit},
    {rule::captures_are_isolated, "captures_are_isolated", captures_are_isolated},
    {rule::copies_follow_their_stream, "copies_follow_their_stream", copies_follow_their_stream},
    {rule::contexts_take_their_memory_along, "contexts_take_their_memory_along", contexts_take_their_memory_along},
    {rule::async_frees_follow_their_stream, "async_frees_follow_their_stream", async_frees_follow_their_stream},
    {rule::lookups_give_what_the_version_has, "lookups_give_what_the_version_has", lookups_give_what_the_version_has},
};

class fake_driver_rules : public ::testing::TestWithParam<checked_rule> {
 protected:
  /// The rules about who has finished are seen by convictions, which a free that waits for all would hide.
  static bool holds_when(bool broken) {
    const rule which = GetParam().which;
    const bool is_by_conviction = which == rule::captured_work_is_not_done || which == rule::launches_do_the_work;
    fake_cuda::settings how;
    how.free_synchronises = !is_by_conviction;
    how.has_contents = which == rule::copies_follow_their_stream || which == rule::async_frees_follow_their_stream;
    if (which == rule::calls_need_init) {
      at().fake.reset(how);
    } else {
      at().begin(how);
    }
    at().fake.set_broken(which, broken);
    return GetParam().holds();
  }
  void TearDown() override { at().fake.reset({}); }
};

TEST_P(fake_driver_rules, holds) { EXPECT_TRUE(holds_when(false)); }

TEST_P(fake_driver_rules, is_missed_where_it_is_broken) { EXPECT_FALSE(holds_when(true)); }

INSTANTIATE_TEST_SUITE_P(cuda, fake_driver_rules, ::testing::ValuesIn(rules),
                         [](const auto& each) { return std::string(each.param.name); });

TEST(fake_driver, has_a_check_for_each_rule) {
  ASSERT_EQ(std::size(rules), static_cast<std::size_t>(rule::count));
  for (std::size_t i = 0; i < std::size(rules); ++i) EXPECT_EQ(static_cast<std::size_t>(rules[i].which), i);
}

TEST(fake_driver, has_a_source_for_each_rule) {
  std::ifstream page(ARCALLOC_SOURCE_DIRECTORY "/docs/cuda.md");
  std::vector<std::string> rows;
  for (std::string line; std::getline(page, line);) {
    if (line.rfind("| `", 0) == 0) rows.push_back(line.substr(3, line.find('`', 3) - 3));
  }
  std::vector<std::string> named;
  for (const checked_rule& each : rules) named.emplace_back(each.name);
  EXPECT_EQ(rows, named);
}

}  // namespace
}  // namespace arcalloc
