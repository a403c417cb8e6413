// SPDX-License-Identifier: Apache-2.0
// The driver fails at every place where it is called. A fixed workload that climbs every rung is run once without
// faults, to count its driver calls of each kind; then once for every call of every kind with that call failing, and
// once with all later ones failing, too. Wherever the allocator then answers with a failure, its live blocks, bounds
// and phase are compared with a snapshot of before (I6), everything is walked (I1, I3), and the device must have
// convicted nobody; and with the fault gone the allocator works, and gives everything back.
#include <gtest/gtest.h>
#include <algorithm>
#include <map>

#include <arcalloc/sim_backend.hpp>
#include "audit.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc {
namespace {

using testing::mib;
constexpr std::uint64_t device_bytes = 256 * mib;

constexpr sim_call kinds[] = {sim_call::allocate,    sim_call::free,       sim_call::record_event,
                              sim_call::query_event, sim_call::wait_event, sim_call::query_memory};
constexpr const char* kind_names[] = {"allocate", "free", "record_event", "query_event", "wait_event", "query_memory"};

/// Which driver calls fail, counted from the allocator's creation on. nth 0: none.
struct planned_fault {
  sim_call call = sim_call::allocate;
  std::uint64_t nth = 0;
  bool persistent = false;
  status with = status::backend_failed;
};

/// What a refusal leaves as it was.
struct snapshot {
  std::vector<testing::audited_block> live;
  std::uint64_t cached_bytes_max;
  std::uint64_t capacity_bytes;
  bool is_derived;
  phase in;
};

/// The workload over a device of its own. What cannot be had is left out, so that it always runs to its end.
class swept_run {
 public:
  explicit swept_run(const planned_fault& fault) : device_(made_of()) {
    if (fault.nth != 0) device_.plan_fault(fault.call, fault.nth, fault.persistent, fault.with);
    options settings;
    settings.cached_bytes_max = bound_mode_of(64 * mib);
    allocator* raw = nullptr;
    EXPECT_EQ(allocator::create(device_, settings, raw), status::ok);
    memory_.reset(raw);
  }

  void run() {
    for (const auto stage :
         {&swept_run::hits, &swept_run::pending_blocks, &swept_run::bound_obeyed, &swept_run::evict_and_retry,
          &swept_run::tight_block, &swept_run::waiting, &swept_run::draining, &swept_run::capacity,
          &swept_run::bounds_changed, &swept_run::phases_and_switch, &swept_run::stuck_segments, &swept_run::door,
          &swept_run::measured_again}) {
      (this->*stage)();
      settle();
      check();
    }
    last = now();
  }

  /// The fault gone, everything works again, and everything goes back.
  void recover() {
    for (const sim_call call : kinds) device_.plan_fault(call, 1, true, status::ok);
    settle();
    EXPECT_EQ(memory_->set_enabled(true), status::ok);
    EXPECT_EQ(memory_->begin_phase(phase::mixed), status::ok);
    EXPECT_TRUE(get("after", 3 * mib, stream{1}));
    EXPECT_TRUE(get("another", 40 * mib, stream{2}));
    check();
    settle();
    EXPECT_TRUE(held_.empty());
    EXPECT_EQ(memory_->drain(), status::ok);
    EXPECT_EQ(now().reserved_bytes, 0U);
    EXPECT_EQ(now().pending_bytes, 0U);
    check();
    memory_.reset();
    device_.convict_leaks();
    for (const std::string& conviction : device_.convictions()) ADD_FAILURE() << conviction;
  }

  [[nodiscard]] std::uint64_t calls(sim_call call) const { return device_.calls(call); }

  counters last{};
  std::vector<status> failures;  // in order

 private:
  struct held_block {
    block piece;
    std::uint64_t bytes;
    stream on;
  };

  static sim_options made_of() {
    sim_options made;
    made.memory_bytes = device_bytes;
    return made;
  }
  static cached_bound bound_mode_of(std::uint64_t bytes) { return {bound_mode::explicit_bytes, bytes}; }

  [[nodiscard]] counters now() const {
    counters said;
    memory_->read_counters(said);
    return said;
  }
  [[nodiscard]] snapshot taken() const {
    const counters said = now();
    const bool is_derived = said.cap_source == ARCALLOC_CAP_DERIVED || said.cap_source == ARCALLOC_CAP_FALLBACK;
    return {testing::audit(*memory_).live, said.cached_bytes_max, said.capacity_bytes, is_derived,
            memory_->current_phase()};
  }
  void check() const {
    for (const std::string& violation : testing::check_invariants(*memory_)) ADD_FAILURE() << violation;
    for (const std::string& conviction : device_.convictions()) ADD_FAILURE() << conviction;
    EXPECT_EQ(now().reserved_bytes, device_.lent_bytes());
  }

  /// A call that is refused has changed nothing of `before`, but for the phase where it is the phase's own.
  void judge(status outcome, const snapshot& before) {
    failures.push_back(outcome);
    const snapshot after = taken();
    EXPECT_EQ(after.live, before.live);
    EXPECT_EQ(after.capacity_bytes, before.capacity_bytes);
    EXPECT_EQ(after.is_derived, before.is_derived);
    // A derived bound is measured again on the way.
    EXPECT_TRUE(before.is_derived || after.cached_bytes_max == before.cached_bytes_max);
    EXPECT_EQ(after.in, before.in);
    check();
  }

  bool get(const std::string& name, std::uint64_t bytes, stream on) {
    if (held_.count(name) != 0) return false;  // its free was refused
    const snapshot before = taken();
    block piece;
    const status outcome = memory_->allocate(bytes, on, piece);
    EXPECT_EQ(static_cast<bool>(piece), outcome == status::ok);
    if (outcome != status::ok) {
      judge(outcome, before);
      return false;
    }
    device_.handed_out(on, piece.data(), bytes);
    device_.use(on, piece.data(), bytes);
    held_[name] = {piece, bytes, on};
    return true;
  }

  void use(const std::string& name, stream on) {
    const auto at = held_.find(name);
    if (at == held_.end()) return;
    device_.use(on, at->second.piece.data(), at->second.bytes);
    EXPECT_EQ(memory_->note_use(at->second.piece, on), status::ok);
  }

  /// Refused it stays live, where its events could not be recorded; or it is gone, and its segment is stuck.
  void put(const std::string& name) {
    const auto at = held_.find(name);
    if (at == held_.end()) return;
    snapshot before = taken();
    const held_block freed = at->second;
    device_.handed_back(freed.piece.data());
    const status outcome = memory_->deallocate(freed.piece);
    const auto is_it = [&](const testing::audited_block& one) { return one.address == freed.piece.data(); };
    const auto live = testing::audit(*memory_).live;
    const bool stays = std::any_of(live.begin(), live.end(), is_it);
    EXPECT_TRUE(outcome != status::ok || !stays);
    if (!stays) {
      held_.erase(at);
      before.live.erase(std::find_if(before.live.begin(), before.live.end(), is_it));
    } else {
      for (std::uint64_t s = 0; s < 5; ++s) device_.finish(stream{s});
      device_.handed_out(freed.on, freed.piece.data(), freed.bytes);
    }
    if (outcome != status::ok) judge(outcome, before);
  }

  template <class Call>
  void ask(Call call) {
    const snapshot before = taken();
    if (const status outcome = call(); outcome != status::ok) judge(outcome, before);
  }
  void enter(phase next) {
    // The phase begins also where what is idle could not be given back.
    snapshot before = taken();
    const status outcome = memory_->begin_phase(next);
    EXPECT_EQ(memory_->current_phase(), next);
    before.in = next;
    if (outcome != status::ok) judge(outcome, before);
  }
  void bound(const cached_bound& wanted) { EXPECT_EQ(memory_->set_cached_bytes_max(wanted), status::ok); }
  void drain() {
    ask([this] { return memory_->drain(); });
  }
  void trim(std::uint64_t target) {
    ask([&] { return memory_->trim(target); });
  }

  /// Between stages: no stream is busy, nothing is held, the device and the bounds are as in the beginning.
  void settle() {
    for (std::uint64_t s = 0; s < 5; ++s) device_.finish(stream{s});
    device_.set_others_bytes(0);
    std::vector<std::string> names;
    for (const auto& [name, piece] : held_) names.push_back(name);
    for (const std::string& name : names) put(name);
    EXPECT_EQ(memory_->set_capacity_bytes(0), status::ok);
    bound(bound_mode_of(64 * mib));
  }

  void hits() {
    get("a", 1000, default_stream);
    get("b", 1000, default_stream);
    put("a");
    get("a", 1000, default_stream);
    get("large", 20 * mib, stream{1});
    put("large");
    get("large", 20 * mib, stream{1});
    put("large");
    get("elsewhere", 20 * mib, stream{2});
    put("a");
    put("b");
    get("small elsewhere", 1000, stream{3});
  }
  void pending_blocks() {
    for (const char* const name : {"p", "q"}) get(name, 20 * mib, stream{1});
    device_.busy(stream{2});
    use("p", stream{2});
    use("q", stream{2});
    use("q", stream{3});
    put("p");
    put("q");
    trim(0);
    device_.finish(stream{2});
    bound({bound_mode::unbounded});
    get("p", 20 * mib, stream{1});
    get("q", 20 * mib, stream{1});
    device_.busy(stream{4});
    use("q", stream{4});
    put("q");
    drain();
  }
  void bound_obeyed() {
    for (const char* const name : {"a", "b", "c"}) get(name, 30 * mib, stream{1});
    device_.busy(stream{1});
    for (const char* const name : {"a", "b", "c"}) put(name);
    get("d", 5 * mib, stream{2});
    put("d");
    bound(bound_mode_of(0));
  }
  void evict_and_retry() {
    drain();
    bound(bound_mode_of(2 * device_bytes));  // which would not drive out the one for the other
    get("a", 100 * mib, stream{1});
    put("a");
    get("b", 200 * mib, stream{1});
  }
  void tight_block() {
    drain();
    device_.set_others_bytes(5 * mib);
    get("a", 250 * mib + mib / 2, stream{1});  // 252 in steps of 2 MiB
  }
  void waiting() {
    drain();
    bound(bound_mode_of(device_bytes));
    device_.set_others_bytes(100 * mib);
    get("a", 100 * mib, stream{1});
    device_.busy(stream{1});
    put("a");
    get("b", 100 * mib, stream{2});
    device_.busy(stream{3});
    use("b", stream{3});
    put("b");
    get("c", 100 * mib, stream{2});
  }
  void draining() {
    drain();
    bound(bound_mode_of(device_bytes));
    device_.set_others_bytes(50 * mib);
    get("a", 100 * mib, stream{1});
    device_.busy(stream{1});
    put("a");
    get("b", 150 * mib, stream{2});  // fits beside nothing that is waited for on its own
  }
  void capacity() {
    drain();
    ask([this] { return memory_->set_capacity_bytes(64 * mib); });
    memory_->reset_peaks();  // what the peak was before was under no capacity
    get("a", 30 * mib, stream{1});
    get("b", 30 * mib, stream{1});
    get("refused", 50 * mib, stream{1});
    put("a");
    put("b");
    ask([this] { return memory_->set_capacity_bytes(40 * mib); });
    memory_->reset_peaks();
    get("c", 30 * mib, stream{2});
  }
  void bounds_changed() {
    get("a", 30 * mib, stream{1});
    get("b", 30 * mib, stream{1});
    put("a");
    bound({});
    put("b");
    bound({bound_mode::unbounded});
    get("a", 12 * mib, stream{2});
    put("a");
    bound(bound_mode_of(mib));
  }
  void phases_and_switch() {
    get("kept", 3 * mib, stream{1});
    get("a", 30 * mib, stream{1});
    put("a");
    bound({});
    enter(phase::prefill);
    get("a", 10 * mib, stream{1});
    device_.busy(stream{1});
    put("a");
    get("b", 100, stream{2});
    use("b", stream{3});
    put("b");
    enter(phase::decode);
    memory_->end_step();
    get("a", 10 * mib, stream{1});
    ask([this] { return memory_->set_enabled(false); });
    put("a");
    get("a", 10 * mib, stream{1});
    put("a");
    ask([this] { return memory_->set_enabled(true); });
    enter(phase::mixed);
  }
  void stuck_segments() {
    get("a", 30 * mib, stream{1});
    put("a");
    device_.plan_fault(sim_call::free, 1, false, status::backend_failed);
    trim(0);
    stuck_bytes_seen = std::max(stuck_bytes_seen, now().stuck_bytes);
    get("a", 30 * mib, stream{1});
    trim(0);
  }
  /// At the door nothing but the counter moves, whatever the driver does.
  void door() {
    if (!get("a", 5000, stream{1})) return;
    const block live = held_["a"].piece;
    char foreign = 0;
    const auto refused = [&](status due, std::uint64_t counters::*counter, auto call) {
      counters before = now();
      EXPECT_EQ(call(), due);
      const counters after = now();
      ++(before.*counter);
      std::size_t count = 0;
      const counter_field* const fields = counter_fields(count);
      for (std::size_t i = 0; i < count; ++i)
        EXPECT_EQ(after.*fields[i].value, before.*fields[i].value) << fields[i].name;
    };
    refused(status::unknown_pointer, &counters::refused_unknown_pointer, [&] { return memory_->deallocate(&foreign); });
    refused(status::invalid_argument, &counters::refused_invalid_argument,
            [&] { return memory_->deallocate(live.data(), 4999); });
    put("a");
    refused(status::double_free, &counters::refused_double_free, [&] { return memory_->deallocate(live); });
  }
  /// A miss long after the bound was measured measures it again.
  void measured_again() {
    bound({});
    for (int step = 0; step < 300; ++step) memory_->end_step();
    get("a", 50 * mib, stream{1});
    put("a");
  }

  sim_backend device_;
  allocator_ptr memory_;
  std::map<std::string, held_block> held_;

 public:
  std::uint64_t stuck_bytes_seen = 0;
};

TEST(fault_sweep, the_workload_climbs_every_rung) {
  swept_run clean({});
  clean.run();
  for (const auto& [rung, count] : {std::pair{"stream_cache_hits", clean.last.stream_cache_hits},
                                    {"pool_hits", clean.last.pool_hits},
                                    {"reclaim_hits", clean.last.reclaim_hits},
                                    {"cross_stream_hits", clean.last.cross_stream_hits},
                                    {"misses", clean.last.misses},
                                    {"evict_retries", clean.last.evict_retries},
                                    {"tight_blocks", clean.last.tight_blocks},
                                    {"wait_hits", clean.last.wait_hits},
                                    {"drain_retries", clean.last.drain_retries},
                                    {"bypassed_phase", clean.last.bypassed_phase},
                                    {"bypassed_disabled", clean.last.bypassed_disabled},
                                    {"evictions", clean.last.evictions},
                                    {"waits", clean.last.waits},
                                    {"failed_capacity_exceeded", clean.last.failed_capacity_exceeded},
                                    {"stuck_bytes", clean.stuck_bytes_seen}}) {
    EXPECT_GT(count, 0U) << rung;
  }
  // The workload asks for more than the capacity once, and plans one fault itself.
  EXPECT_EQ(clean.failures, (std::vector{status::capacity_exceeded, status::backend_failed}));
  for (std::size_t i = 0; i < std::size(kinds); ++i) EXPECT_GT(clean.calls(kinds[i]), 2U) << kind_names[i];
  clean.recover();
}

class sweep_of : public ::testing::TestWithParam<int> {};

TEST_P(sweep_of, every_call_failing_once_and_from_then_on) {
  const auto kind = static_cast<std::size_t>(GetParam());
  swept_run clean({});
  clean.run();
  const std::uint64_t calls = clean.calls(kinds[kind]);
  ASSERT_GT(calls, 2U);
  std::size_t failing = 0;
  std::size_t runs = 0;
  for (std::uint64_t nth = 1; nth <= calls; ++nth) {
    for (const bool persistent : {false, true}) {
      for (const status with : {status::backend_failed, status::device_out_of_memory}) {
        if (with == status::device_out_of_memory && kinds[kind] != sim_call::allocate) continue;
        SCOPED_TRACE(std::string(kind_names[kind])
                         .append(" ")
                         .append(std::to_string(nth))
                         .append(persistent ? "+ " : " ")
                         .append(status_name(with)));
        swept_run faulty({kinds[kind], nth, persistent, with});
        faulty.run();
        ++runs;
        failing += faulty.failures.size();
        faulty.recover();
        if (HasFailure()) return;  // the first is enough to look at
      }
    }
  }
  RecordProperty("driver_calls", static_cast<int>(calls));
  RecordProperty("failing_calls", static_cast<int>(failing));
  // Each run has the fault-free run's own two failures. A device that will not say what is free fails no call.
  if (kinds[kind] == sim_call::query_memory) {
    EXPECT_EQ(failing, clean.failures.size() * runs);
  } else {
    EXPECT_GT(failing, clean.failures.size() * runs);
  }
}

INSTANTIATE_TEST_SUITE_P(fault_sweep, sweep_of, ::testing::Range(0, static_cast<int>(std::size(kinds))),
                         [](const auto& one) { return kind_names[one.param]; });

}  // namespace
}  // namespace arcalloc
