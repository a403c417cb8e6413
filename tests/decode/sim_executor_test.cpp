// SPDX-License-Identifier: Apache-2.0
#include "decode/sim_executor.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <utility>

#include "decode/session.hpp"
#include "files.hpp"
#include "sim_card.hpp"

namespace arcalloc::decode {
namespace {

/// Passes every call on, and takes down what was lent and given back: a size, or the number of the block, negative.
class noting_backend final : public backend {
 public:
  explicit noting_backend(backend& below) noexcept : below_(&below) {}

  [[nodiscard]] const char* name() const noexcept override { return "noting"; }
  [[nodiscard]] std::size_t granularity() const noexcept override { return below_->granularity(); }
  [[nodiscard]] bool synchronous() const noexcept override { return below_->synchronous(); }
  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override {
    const status outcome = below_->allocate(bytes, on, address);
    calls_.push_back(static_cast<std::int64_t>(bytes));
    number_[address] = static_cast<std::int64_t>(calls_.size());
    return outcome;
  }
  [[nodiscard]] status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    return allocate(bytes, on, address);
  }
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override {
    calls_.push_back(-number_[address]);
    return below_->free(address, bytes);
  }
  [[nodiscard]] status query_memory(memory_info& out) const noexcept override { return below_->query_memory(out); }
  [[nodiscard]] status record_event(stream on, event& out) noexcept override { return below_->record_event(on, out); }
  [[nodiscard]] status query_event(event point, bool& finished) noexcept override {
    return below_->query_event(point, finished);
  }
  [[nodiscard]] status wait_event(event point) noexcept override { return below_->wait_event(point); }
  void drop_event(event point) noexcept override { below_->drop_event(point); }

  [[nodiscard]] const std::vector<std::int64_t>& calls() const noexcept { return calls_; }

 private:
  backend* below_;
  std::vector<std::int64_t> calls_;
  std::map<void*, std::int64_t> number_;
};

/// With the cache off, the driver's calls are the requests and frees themselves, each with its block.
std::vector<std::int64_t> calls_on_host(const session_settings& settings, const options& policy) {
  host_backend host(256 * mebibyte);
  noting_backend device(host);
  const allocator_ptr memory = make_allocator(device, policy);
  EXPECT_EQ(run_session(*memory, settings, [](std::size_t) {}).outcome, status::ok);
  return device.calls();
}

std::vector<std::int64_t> calls_on_card(const session_settings& settings, const options& policy) {
  sim_card card("4090", driver_calls::stream_ordered, 4096);
  noting_backend device(card.device);
  const allocator_ptr memory = make_allocator(device, policy);
  sim_executor charges(card.time);
  const session_device there{charges, {}};
  EXPECT_EQ(run_session(
                *memory, settings, [](std::size_t) {}, &there)
                .outcome,
            status::ok);
  return device.calls();
}

void expect_same_requests(const session_settings& settings) {
  options bounded;  // so tightly that the driver is asked again and again
  bounded.cached_bytes_max = {bound_mode::explicit_bytes, 1 << 20};
  for (const options& policy : {options_off(), options_unbounded(), bounded}) {
    const auto on_host = calls_on_host(settings, policy);
    EXPECT_GT(on_host.size(), policy.enabled ? 10U : 900U);
    EXPECT_EQ(on_host, calls_on_card(settings, policy));
  }
  EXPECT_EQ(calls_on_host(settings, options{}), calls_on_card(settings, options{}));
}

TEST(sim_executor, host_and_card_see_the_same_requests_in_the_same_order) {
  for (const kv_mode kv : {kv_mode::concat, kv_mode::preallocated}) {
    expect_same_requests({.config_name = "demo-3m", .tokens = 12, .context = 20, .kv = kv});
  }
  expect_same_requests({.config_name = "demo-3m", .tokens = 8, .kv = kv_mode::preallocated, .capture = true});
}

TEST(sim_executor, host_and_card_see_the_same_requests_of_a_real_model) {
  const auto model = shared_file("model/stories260K.bin");
  const auto tokenizer = shared_file("model/tok512.bin");
  if (!model || !tokenizer) GTEST_SKIP() << "no shared data: model/";
  const session_settings settings{
      .model_path = *model, .tokenizer_path = *tokenizer, .prompt = "Once upon a time", .tokens = 1};
  expect_same_requests(settings);
}

TEST(sim_executor, tokens_are_below_the_vocabulary_vary_and_are_those_of_every_leg) {
  std::vector<std::int32_t> first;
  for (const options& policy : {options_off(), options_unbounded(), options{}}) {
    sim_card card;
    const allocator_ptr memory = make_allocator(card.device, policy);
    sim_executor charges(card.time);
    const session_device there{charges, {}};
    const auto outcome = run_session(
        *memory, {.config_name = "demo-3m", .tokens = 20}, [](std::size_t) {}, &there);
    ASSERT_EQ(outcome.tokens.size(), 20U);
    if (first.empty()) first = outcome.tokens;
    EXPECT_EQ(outcome.tokens, first);
    EXPECT_GT(std::set<std::int32_t>(first.begin(), first.end()).size(), 15U);
    for (const std::int32_t token : first) EXPECT_LT(static_cast<std::uint32_t>(token), 2048U);
  }
}

TEST(device_timeline, an_operation_takes_the_larger_of_its_bytes_and_its_arithmetic) {
  const sim_card card("h200");
  EXPECT_EQ(card.time.duration_ns({.bytes = 4'800'000'000, .operations = 1, .with = precision::half_16}), 1'000'000U);
  EXPECT_EQ(card.time.duration_ns({.bytes = 1, .operations = 989'000'000'000, .with = precision::half_16}), 1'000'000U);
  EXPECT_EQ(card.time.duration_ns({.operations = 67'000'000'000, .with = precision::single_32}), 1'000'000U);
  EXPECT_EQ(card.time.duration_ns({.operations = 1'979'000'000'000, .with = precision::byte_8}), 1'000'000U);
}

TEST(device_timeline, a_step_takes_as_long_as_the_slower_of_host_and_card) {
  const std::uint64_t each = find_device_model("h200")->operation_ns;
  sim_card host_bound;
  for (int i = 0; i < 100; ++i) host_bound.time.enqueue({.bytes = 4800});  // one nanosecond each
  host_bound.time.synchronise();
  EXPECT_EQ(host_bound.time.now_ns(), 100 * each + 1);
  sim_card card_bound;
  for (int i = 0; i < 100; ++i) card_bound.time.enqueue({.bytes = 4'800'000'000});  // a millisecond each
  EXPECT_EQ(card_bound.time.now_ns(), 100 * each) << "the host does not wait before it must";
  card_bound.time.synchronise();
  EXPECT_EQ(card_bound.time.now_ns(), each + 100'000'000);
}

TEST(device_timeline, the_driver_s_calls_are_the_host_s_time) {
  for (const auto& [by, pair_ns] :
       {std::pair{driver_calls::stream_ordered, 700U}, std::pair{driver_calls::synchronous, 150'000U}}) {
    sim_card card("h200", by);
    void* address = nullptr;
    ASSERT_EQ(card.device.allocate(512, default_stream, address), status::ok);
    ASSERT_EQ(card.device.free(address, 512), status::ok);
    EXPECT_EQ(card.time.now_ns(), pair_ns);
  }
}

TEST(device_models, have_names_and_figures_of_their_own) {
  ASSERT_EQ(device_models().size(), 4U);
  for (const device_model& each : device_models()) {
    EXPECT_EQ(find_device_model(each.name), &each);
    EXPECT_GE(each.half_operations_s, each.single_operations_s);
    EXPECT_GE(each.byte_operations_s, each.half_operations_s);
    memory_info found;
    EXPECT_EQ(sim_card(each.name).device.query_memory(found), status::ok);
    EXPECT_EQ(found.free_bytes, each.memory_bytes);
  }
  EXPECT_EQ(find_device_model("h20"), nullptr);
}

}  // namespace
}  // namespace arcalloc::decode
