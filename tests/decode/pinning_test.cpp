// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <map>
#include <stdexcept>
#include <vector>

#include "decode/captured_step.hpp"
#include "decode/configs.hpp"
#include "decode/model.hpp"
#include "decode/recording_executor.hpp"
#include "decode/tokenizer.hpp"
#include "devices.hpp"
#include "files.hpp"
#include "watching_executor.hpp"

// What the pins are good for: the same replays with them and, by a fault that only a test can make, without.

namespace arcalloc::decode {
namespace {

/// Calls back before each operation: where another engine's work would be running at the same time.
class interrupted_executor final : public watching_executor {
 public:
  std::function<void(tensor_input)> call;

 private:
  void before(tensor_input out) override {
    if (call) call(out);
  }
};

/// A small model with one recorded step.
class captured_engine {
 public:
  captured_engine(backend& device, const options& policy)
      : memory_(make_allocator(device, policy)), tensors_(*memory_, default_stream) {
    EXPECT_EQ(step_.record(
                  [this] {
                    const tensor logits = llama_.forward(token_, cache_, attention_span::whole);
                    ops_.index_of_greatest(logits, token_);
                  },
                  report_),
              status::ok);
  }

  [[nodiscard]] allocator& memory() { return *memory_; }
  [[nodiscard]] interrupted_executor& host() { return host_; }
  [[nodiscard]] const capture_report& report() const { return report_; }
  [[nodiscard]] graph_id graph() const { return step_.graph(); }
  [[nodiscard]] status give_back() { return step_.give_back(); }

  std::int32_t replay() {
    const status launched = step_.replay();
    if (first_refusal_ == status::ok) first_refusal_ = launched;
    cache_.advance(ops_);
    return ops_.read_index(token_);
  }

  std::vector<std::int32_t> replay(std::size_t times) {
    std::vector<std::int32_t> made;
    for (std::size_t i = 0; i < times; ++i) made.push_back(replay());
    return made;
  }

  /// What a launch was answered that the allocator did not know the graph of.
  [[nodiscard]] status first_refusal() const { return first_refusal_; }

 private:
  seeded_model source_{small_config()};
  allocator_ptr memory_;
  tensor_source tensors_;
  interrupted_executor host_;
  recording_executor compute_{host_};
  operations ops_{tensors_, compute_};
  model llama_{ops_, source_};
  kv_cache cache_{ops_, source_.config(), kv_mode::preallocated};
  tensor token_ = ops_.index(token_of_start);
  status first_refusal_ = status::ok;
  capture_report report_;
  captured_step step_{*memory_, compute_, default_stream};
};

constexpr std::size_t tokens_made = 24;

std::vector<std::int32_t> eager_tokens() {
  const seeded_model source{small_config()};
  host_backend device(64 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  tensor_source tensors{*memory, default_stream};
  host_executor host;
  const operations ops{tensors, host};
  const model llama{ops, source};
  kv_cache cache{ops, source.config(), kv_mode::concat};
  tensor token = ops.index(token_of_start);
  std::vector<std::int32_t> made;
  while (made.size() < tokens_made) {
    ops.index_of_greatest(llama.forward(token, cache), token);
    cache.advance(ops);
    made.push_back(ops.read_index(token));
  }
  return made;
}

enum class pins { kept, broken };

/// The fault: the graph is given up while it is still going to be replayed.
void break_pins(captured_engine& engine) {
  ASSERT_EQ(engine.memory().release_graph(engine.graph()), status::ok);
  ASSERT_EQ(engine.memory().drain(), status::ok);
}

/// A second engine on the same allocator and stream. Its work, running beside a replay, writes all of its memory.
class neighbour {
 public:
  explicit neighbour(allocator& memory) : memory_(memory) {
    // Sizes of the step's own, many of each, so that whatever the allocator thinks is idle is taken.
    for (const std::size_t bytes : {4U, 32U, 64U, 96U, 256U, 1024U, 1200U, 4096U}) {
      for (int i = 0; i < 40; ++i) {
        block where;
        EXPECT_EQ(memory_.allocate(bytes, default_stream, where), status::ok);
        pieces_.push_back({where, bytes});
      }
    }
  }
  ~neighbour() {
    for (const piece& each : pieces_) EXPECT_EQ(memory_.deallocate(each.where), status::ok);
  }
  neighbour(const neighbour&) = delete;
  neighbour& operator=(const neighbour&) = delete;

  void write() {
    for (const piece& each : pieces_) std::memcpy(each.where.data(), garbage_.data(), each.bytes);
  }

  /// How many of its blocks no longer hold what it wrote.
  [[nodiscard]] std::size_t spoilt() const {
    std::size_t count = 0;
    for (const piece& each : pieces_) {
      count += std::memcmp(each.where.data(), garbage_.data(), each.bytes) == 0 ? 0U : 1U;
    }
    return count;
  }

 private:
  struct piece {
    block where;
    std::size_t bytes;
  };
  allocator& memory_;
  std::vector<char> garbage_ = std::vector<char>(4096, '\xff');
  std::vector<piece> pieces_;
};

class pinning : public testing::TestWithParam<geometry> {
 protected:
  [[nodiscard]] static options policy() {
    options settings;
    settings.classes = GetParam();
    return settings;
  }
};

TEST_P(pinning, keeps_the_memory_of_a_replay_from_a_neighbour_whose_work_runs_beside_it) {
  const std::vector<std::int32_t> expected = eager_tokens();
  for (const pins which : {pins::kept, pins::broken}) {
    host_backend device(256 * mebibyte);
    captured_engine engine(device, policy());
    EXPECT_GT(engine.report().pinned_bytes, 0U);
    if (which == pins::broken) break_pins(engine);
    {
      neighbour other(engine.memory());
      std::size_t spoilt = 0;
      engine.host().call = [&](tensor_input) {
        spoilt += other.spoilt();
        other.write();
      };
      other.write();
      const std::vector<std::int32_t> made = engine.replay(tokens_made);
      engine.host().call = nullptr;
      if (which == pins::kept) {
        EXPECT_EQ(made, expected);
        EXPECT_EQ(spoilt, 0U);
        EXPECT_EQ(engine.first_refusal(), status::ok);
      } else {
        EXPECT_NE(made, expected);
        EXPECT_GT(spoilt, 0U);
        EXPECT_EQ(engine.first_refusal(), status::invalid_argument);
      }
    }
    EXPECT_EQ(engine.give_back(), which == pins::kept ? status::ok : status::invalid_argument);
    EXPECT_EQ(counters_of(engine.memory()).pinned_bytes, 0U);
  }
}

INSTANTIATE_TEST_SUITE_P(geometries, pinning, testing::Values(geometry::classes_8, geometry::exact),
                         [](const auto& each) {
                           return each.param == geometry::exact ? std::string("exact") : std::string("classes_8");
                         });

/// Knows what it has lent; what it takes back it fills with garbage and keeps, so that a late touch is seen, and not
/// a signal.
class convicting_backend final : public altered_host {
 public:
  using altered_host::altered_host;

  [[nodiscard]] status allocate(std::size_t bytes, stream on, void*& address) noexcept override {
    const status outcome = altered_host::allocate(bytes, on, address);
    if (outcome == status::ok) {
      std::memset(address, 0xff, bytes);
      lent_[static_cast<char*>(address)] = bytes;
    }
    return outcome;
  }
  [[nodiscard]] status free(void* address, std::size_t bytes) noexcept override {
    const auto found = lent_.find(static_cast<char*>(address));
    if (found == lent_.end() || found->second != bytes) return status::backend_failed;
    std::memset(address, 0xff, bytes);
    lent_.erase(found);
    taken_back_.push_back({address, bytes});
    return status::ok;
  }
  ~convicting_backend() override {
    for (const range& each : taken_back_) EXPECT_EQ(altered_host::free(each.address, each.bytes), status::ok);
  }

  [[nodiscard]] bool has_lent(tensor_input what) const {
    const auto* begin = reinterpret_cast<const char*>(what.data());
    const auto after = lent_.upper_bound(const_cast<char*>(begin));
    if (after == lent_.begin()) return false;
    const auto& [base, bytes] = *std::prev(after);
    return begin + what.bytes() <= base + bytes;
  }
  [[nodiscard]] std::size_t lent_segments() const { return lent_.size(); }

 private:
  struct range {
    void* address;
    std::size_t bytes;
  };
  std::map<char*, std::size_t> lent_;
  std::vector<range> taken_back_;
};

TEST(driver_memory, of_a_graph_stays_lent_through_drains_and_is_convicted_where_the_pins_are_broken) {
  const std::vector<std::int32_t> expected = eager_tokens();
  for (const pins which : {pins::kept, pins::broken}) {
    convicting_backend device(256 * mebibyte);
    {
      options exact;
      exact.classes = geometry::exact;
      captured_engine engine(device, exact);
      const std::size_t lent = device.lent_segments();
      std::size_t convictions = 0;
      engine.host().call = [&](tensor_input out) { convictions += device.has_lent(out) ? 0U : 1U; };
      if (which == pins::broken) break_pins(engine);
      std::vector<std::int32_t> made;
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_EQ(engine.memory().drain(), status::ok);
        made.push_back(engine.replay());
      }
      engine.host().call = nullptr;
      if (which == pins::kept) {
        EXPECT_EQ(made, expected);
        EXPECT_EQ(convictions, 0U);
        EXPECT_EQ(device.lent_segments(), lent);
        EXPECT_EQ(engine.give_back(), status::ok);
        ASSERT_EQ(engine.memory().drain(), status::ok);
        EXPECT_LT(device.lent_segments(), lent);
      } else {
        EXPECT_GT(convictions, expected.size());
        EXPECT_LT(device.lent_segments(), lent);
      }
    }
    EXPECT_EQ(device.lent_segments(), 0U);
  }
}

TEST(captured_step, that_is_refused_leaves_no_window_and_nothing_pinned) {
  host_backend device(64 * mebibyte);
  const allocator_ptr memory = make_allocator(device);
  tensor_source tensors{*memory, default_stream};
  host_executor host;
  recording_executor compute{host};
  const operations ops{tensors, compute};
  tensor kept = ops.filled({.columns = 1000}, constant_values{2});
  for (int i = 0; i < 20; ++i) {
    captured_step step{*memory, compute, default_stream};
    capture_report report;
    const auto ask_for_too_much = [&] {
      const tensor sum = ops.add(kept, kept);
      const tensor vast = tensors.make({.rows = 65536, .columns = 1000});
    };
    EXPECT_EQ(step.record(ask_for_too_much, report), status::device_out_of_memory);
    EXPECT_EQ(step.graph(), graph_id::none);
    EXPECT_EQ(report.operations, 0U);
    EXPECT_EQ(report.pinned_bytes, 0U);
    EXPECT_FALSE(memory->is_capturing(default_stream));
    EXPECT_EQ(ops.add(kept, kept).data()[7], 4.0F);
  }
  captured_step faulty{*memory, compute, default_stream};
  capture_report report;
  const auto ask_the_host = [&] { static_cast<void>(ops.read_index(kept)); };
  EXPECT_THROW(static_cast<void>(faulty.record(ask_the_host, report)), std::logic_error);
  EXPECT_FALSE(memory->is_capturing(default_stream));
  kept = {};
  ASSERT_EQ(memory->drain(), status::ok);
  EXPECT_EQ(counters_of(*memory).reserved_bytes, 0U);
  EXPECT_EQ(device.lent_bytes(), 0U);
}

}  // namespace
}  // namespace arcalloc::decode
