// SPDX-License-Identifier: Apache-2.0
#include "simulation.hpp"

#include <arcalloc/allocator.hpp>
#include <arcalloc/sim_backend.hpp>
#include <random>
#include <vector>

#include "audit.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::uint64_t kib = 1 << 10;
constexpr std::uint64_t mib = 1 << 20;
constexpr std::uint64_t streams = 4;

/// The calls a run is made of; their weights are drawn per seed, and some are 0 in it.
enum call : std::uint32_t {
  call_allocate,
  call_free,
  call_free_elsewhere,
  call_use,
  call_busy,
  call_finish,
  call_wait,
  call_step,
  call_phase,
  call_trim,
  call_drain,
  call_bound,
  call_others,
  call_fault,
  call_misuse,
  call_count
};

struct live_block {
  block piece;
  std::uint64_t bytes;
  stream on;
};

class run_of_one_seed {
 public:
  explicit run_of_one_seed(std::uint64_t seed) : random_(seed), device_(draw_device()) {
    allocator* raw = nullptr;
    if (allocator::create(device_, draw_options(), raw) != status::ok) {
      violation_ = "create failed";
      return;
    }
    memory_.reset(raw);
    std::uint32_t total = 0;
    for (std::uint32_t& weight : weights_) {
      weight = random_() % 4 == 0 ? 0 : static_cast<std::uint32_t>(1 + random_() % 8);
      total += weight;
    }
    weights_[call_allocate] = total + 8;  // about half of all calls
    weights_[call_free] = total / 2 + 6;
    small_only_ = random_() % 3 == 0;
    live_max_ = 4 + random_() % 120;
  }

  simulation_result run(std::uint64_t steps) {
    for (step_ = 0; step_ < steps && violation_.empty(); ++step_) {
      one_call();
      check();
    }
    if (violation_.empty()) finish();
    return {violation_, device_.history_hash(), step_};
  }

 private:
  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  stream any_stream() { return stream{1 + below(streams)}; }

  sim_options draw_device() {
    sim_options made;
    const std::uint64_t sizes[] = {24 * mib, 96 * mib, 600 * mib, 24 * 1024 * mib};
    const std::size_t granules[] = {512, 65536, 2 * mib};
    made.memory_bytes = sizes[below(4)];
    made.granularity = granules[below(3)];
    return made;
  }

  options draw_options() {
    options settings;
    const geometry shapes[] = {geometry::classes_8, geometry::classes_8, geometry::classes_1, geometry::classes_16,
                               geometry::exact};
    settings.classes = shapes[below(5)];
    settings.cached_bytes_max = draw_bound();
    settings.oom_retry = below(8) != 0;
    settings.enabled = below(12) != 0;
    settings.cache_in_prefill = below(3) == 0;
    capacity_ = below(3) == 0 ? (8 + below(200)) * mib : 0;
    settings.capacity_bytes = capacity_;
    if (capacity_ != 0) device_capacity_ = capacity_;
    return settings;
  }

  cached_bound draw_bound() {
    switch (below(4)) {
      case 0:
        return {bound_mode::derived};
      case 1:
        return {bound_mode::unbounded};
      default:
        return {bound_mode::explicit_bytes, below(64) * mib};
    }
  }

  std::uint64_t draw_size() {
    switch (below(small_only_ ? 4 : 8)) {
      case 0:
        return 1 + below(64);
      case 1:
        return 1 + below(32 * kib);
      case 2:
        return 512 * (1 + below(64));
      case 3:
        return 2048 * (1 + step_ % 3000);
      case 4:
        return 1 + below(300 * kib);
      case 5:
        return 1 + below(4 * mib);
      case 6:
        return 1 + below(24 * mib);
      default:
        return 64 * kib * (1 + below(100));
    }
  }

  void one_call() {
    std::uint32_t total = 0;
    for (const std::uint32_t weight : weights_) total += weight;
    std::uint64_t ticket = below(total);
    std::uint32_t which = 0;
    while (ticket >= weights_[which]) ticket -= weights_[which++];
    switch (static_cast<call>(which)) {
      case call_allocate:
        return live_.size() < live_max_ ? allocate() : free_one(false);
      case call_free:
        return free_one(false);
      case call_free_elsewhere:
        return free_one(true);
      case call_use:
        return use();
      case call_busy:
        return device_.busy(any_stream());
      case call_finish:
        return device_.finish(any_stream());
      case call_wait:
        return device_.wait(any_stream(), any_stream());
      case call_step:
        return memory_->end_step();
      case call_phase:
        return expect_ok(memory_->begin_phase(static_cast<phase>(below(3))));
      case call_trim:
        return expect_ok(memory_->trim(below(64) * mib));
      case call_drain:
        return expect_ok(memory_->drain());
      case call_bound:
        return expect_ok(memory_->set_cached_bytes_max(draw_bound()));
      case call_others:
        return device_.set_others_bytes(below(16) * mib);
      case call_fault:
        return plan_fault();
      case call_misuse:
        return misuse();
      case call_count:
        break;
    }
  }

  void violate(const std::string& what) {
    if (violation_.empty()) violation_ = "step " + std::to_string(step_) + ": " + what;
  }

  /// ok, or a driver failure while one is planned: nothing else may come of these calls.
  void expect_ok(status outcome) {
    if (outcome != status::ok && !faults_planned_) violate(std::string("refused with ") + status_name(outcome));
  }

  void allocate() {
    const std::uint64_t bytes = draw_size();
    const stream on = any_stream();
    counters before;
    memory_->read_counters(before);
    block piece;
    const status outcome = memory_->allocate(bytes, on, piece);
    ++requests_;
    if (outcome == status::ok) {
      device_.handed_out(on, piece.data(), bytes);
      device_.use(on, piece.data(), bytes);
      live_.push_back({piece, bytes, on});
      return;
    }
    const bool full = outcome == status::device_out_of_memory || outcome == status::capacity_exceeded;
    if (!full && !faults_planned_) violate(std::string("allocate: ") + status_name(outcome));
    counters after;
    memory_->read_counters(after);
    if (after.allocated_bytes != before.allocated_bytes || after.blocks_live != before.blocks_live) {
      violate("a refused request changed what is live");
    }
    if (after.capacity_bytes != before.capacity_bytes) violate("a refused request changed a bound");
  }

  void free_one(bool elsewhere) {
    if (live_.empty()) return;
    const std::size_t victim = below(live_.size());
    const live_block freed = live_[victim];
    const stream on = elsewhere ? any_stream() : freed.on;
    if (elsewhere) device_.use(on, freed.piece.data(), freed.bytes);
    device_.handed_back(freed.piece.data());
    status outcome = status::ok;
    switch (elsewhere ? 3 : below(3)) {
      case 0:
        outcome = memory_->deallocate(freed.piece);
        break;
      case 1:
        outcome = memory_->deallocate(freed.piece.data());
        break;
      case 2:
        outcome = memory_->deallocate(freed.piece.data(), freed.bytes);
        break;
      default:
        outcome = memory_->deallocate(freed.piece, on);
        break;
    }
    counters after;
    memory_->read_counters(after);
    live_[victim] = live_.back();
    live_.pop_back();
    if (outcome == status::ok) return;
    if (!faults_planned_) return violate(std::string("free: ") + status_name(outcome));
    // Refused or only stuck on its way to the driver: the count of live blocks tells.
    if (after.blocks_live == live_.size()) return;
    for (std::uint64_t s = 1; s <= streams; ++s) device_.finish(stream{s});
    device_.handed_out(freed.on, freed.piece.data(), freed.bytes);
    live_.push_back(freed);
  }

  void use() {
    if (live_.empty()) return;
    const live_block& used = live_[below(live_.size())];
    const stream on = any_stream();
    device_.use(on, used.piece.data(), used.bytes);
    if (memory_->note_use(used.piece, on) != status::ok) violate("note_use of a live block was refused");
  }

  void plan_fault() {
    const sim_call calls[] = {sim_call::allocate,    sim_call::free,       sim_call::record_event,
                              sim_call::query_event, sim_call::wait_event, sim_call::query_memory};
    const sim_call which = calls[below(6)];
    const bool oom = which == sim_call::allocate && below(2) == 0;
    faults_planned_ = true;
    device_.plan_fault(which, 1 + below(4), false, oom ? status::device_out_of_memory : status::backend_failed);
  }

  void misuse() {
    std::byte local{};
    if (memory_->deallocate(&local) != status::unknown_pointer) violate("a foreign pointer was taken");
    if (live_.empty()) return;
    const live_block& some = live_[below(live_.size())];
    if (memory_->deallocate(static_cast<std::byte*>(some.piece.data()) + 1) != status::unknown_pointer) {
      violate("an address inside a block was taken");
    }
    if (memory_->deallocate(some.piece.data(), some.bytes + 1) != status::invalid_argument) {
      violate("a wrong size was taken");
    }
  }

  void check() {
    if (const auto convicted = device_.convictions(); !convicted.empty()) return violate(convicted.front());
    if (live_.size() <= 64 || step_ % 64 == 0) {
      if (const auto found = check_invariants(*memory_); !found.empty()) return violate(found.front());
    }
    counters said;
    memory_->read_counters(said);
    if (said.reserved_bytes != device_.lent_bytes()) violate("reserved is not what the device lent");
    if (said.blocks_live != live_.size()) violate("blocks_live is not what the engine holds");
    if (said.requests != requests_) violate("requests is not what the engine asked");
    if (said.cached_bytes > said.cached_bytes_max) violate("cached above its max");
    if (device_capacity_ != 0 && device_.lent_bytes_peak() > device_capacity_) violate("reserved above the capacity");
  }

  /// Everything freed and drained: the device has all its memory back.
  void finish() {
    for (std::uint64_t s = 1; s <= streams; ++s) device_.finish(stream{s});
    while (!live_.empty() && violation_.empty()) {
      free_one(false);
      check();
    }
    // A planned fault may still hit a drain or two; what it left stuck is retried.
    for (int turn = 0; turn < 30; ++turn) (void)memory_->drain();
    check();
    counters said;
    memory_->read_counters(said);
    if (said.reserved_bytes != 0 && violation_.empty()) violate("memory is left after a drain");
    memory_.reset();
    device_.convict_leaks();
    if (const auto convicted = device_.convictions(); !convicted.empty()) violate(convicted.front());
  }

  std::mt19937_64 random_;
  std::uint64_t capacity_ = 0;
  std::uint64_t device_capacity_ = 0;
  sim_backend device_;
  allocator_ptr memory_;
  std::uint32_t weights_[call_count] = {};
  std::vector<live_block> live_;
  std::uint64_t live_max_ = 0;
  std::uint64_t requests_ = 0;
  std::uint64_t step_ = 0;
  bool small_only_ = false;
  bool faults_planned_ = false;
  std::string violation_;
};

}  // namespace

simulation_result simulate(std::uint64_t seed, std::uint64_t steps) { return run_of_one_seed(seed).run(steps); }

}  // namespace arcalloc::testing
