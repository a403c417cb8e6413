// SPDX-License-Identifier: Apache-2.0
#include "drawing.hpp"

#include <algorithm>
#include <random>

#include "capture_drawing.hpp"
#include "sizes_and_streams.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::size_t freed_kept = 8;

class drawer {
 public:
  explicit drawer(std::uint64_t seed) : random_(seed), captures_(random_) {}

  plan draw(std::uint64_t steps) {
    draw_world();
    draw_weights();
    made_.operations.reserve(steps);
    for (step_ = 0; step_ < steps; ++step_) {
      if (below(stay_) == 0) actor_ = static_cast<std::uint8_t>(below(made_.actors));
      made_.operations.push_back(draw_operation());
    }
    return std::move(made_);
  }

 private:
  struct drawn_block {
    std::uint32_t number = 0;
    std::uint64_t bytes = 0;
    stream on = default_stream;
  };

  std::uint64_t below(std::uint64_t bound) { return random_() % bound; }
  bool one_in(std::uint64_t n) { return below(n) == 0; }
  std::uint8_t small_below(std::uint64_t bound) { return static_cast<std::uint8_t>(below(bound)); }

  void draw_world() {
    const std::uint64_t sizes[] = {24 * mib, 96 * mib, 600 * mib, 24 * 1024 * mib};
    const std::size_t granules[] = {512, 65536, 2 * mib};
    made_.device.memory_bytes = sizes[below(4)];
    made_.device.granularity = granules[below(3)];
    options& settings = made_.settings;
    const geometry shapes[] = {geometry::classes_8, geometry::classes_8,  geometry::classes_8, geometry::classes_1,
                               geometry::classes_4, geometry::classes_16, geometry::exact};
    settings.classes = shapes[below(7)];
    settings.cached_bytes_max = draw_bound();
    settings.oom_retry = !one_in(8);
    settings.enabled = !one_in(24);
    settings.cache_in_prefill = one_in(3);
    settings.capacity_bytes = one_in(3) ? (8 + below(200)) * mib : 0;
    made_.actors = one_in(4) ? 2 + static_cast<std::uint32_t>(below(actors_max - 1)) : 1;
    made_.read_every = one_in(3) ? 2 + static_cast<std::uint32_t>(below(40)) : 1;
    made_.ends_with_blocks = one_in(4);
    captures_.draw_world(made_);
  }

  void draw_weights() {
    std::uint32_t total = 0;
    for (std::uint32_t& weight : weights_) weight = one_in(4) ? 0 : static_cast<std::uint32_t>(1 + below(8));
    captures_.draw_weights(weights_);
    for (const std::uint32_t weight : weights_) total += weight;
    const auto weight_of = [this](act what) -> std::uint32_t& { return weights_[static_cast<std::size_t>(what)]; };
    // What turns the whole allocator over is rare, or nothing else would ever build up.
    for (const act what : {act::set_enabled, act::set_capacity, act::end_actor}) weight_of(what) /= 3;
    if (made_.actors == 1) weight_of(act::end_actor) = 0;
    weight_of(act::allocate) = total + 8;  // about half of all
    weight_of(act::free_block) = total / 2 + 6;
    small_only_ = one_in(3);
    live_max_ = 4 + below(120);
    const std::uint64_t room = made_.settings.capacity_bytes == 0
                                   ? made_.device.memory_bytes
                                   : std::min(made_.settings.capacity_bytes, made_.device.memory_bytes);
    pressure_bytes_ = room / 100 * (30 + below(120));
    size_max_ = std::min<std::uint64_t>(24 * mib, made_.device.memory_bytes / 3);
    stay_ = 1 + below(16);
    for (std::uint64_t& size : favourites_) size = draw_new_size();
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

  std::uint64_t draw_new_size() {
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
        return 1 + below(size_max_);
      default:
        return 64 * kib * (1 + below(100));
    }
  }
  std::uint64_t draw_size() { return one_in(3) ? favourites_[below(std::size(favourites_))] : draw_new_size(); }

  /// Mostly the actor's own.
  stream draw_stream() { return stream{one_in(3) ? 1 + below(streams_drawn) : 1 + std::uint64_t{actor_}}; }
  stream draw_any_stream() { return stream{1 + below(streams_drawn)}; }

  operation draw_operation() {
    operation next;
    if (captures_.next_of_burst(next)) return next;
    std::uint64_t total = 0;
    for (const std::uint32_t weight : weights_) total += weight;
    std::uint64_t ticket = below(total);
    std::size_t which = 0;
    while (ticket >= weights_[which]) ticket -= weights_[which++];
    next.actor = actor_;
    next.what = static_cast<act>(which);
    fill(next);
    return next;
  }

  /// One line for each kind. What needs a block where none is drawn becomes an allocation or ends a step.
  void fill(operation& next) {
    switch (next.what) {
      case act::allocate:
        return live_.size() < live_max_ && live_bytes_ < pressure_bytes_ ? draw_allocate(next) : draw_free(next);
      case act::free_block:
        return draw_free(next);
      case act::use:
        return draw_use(next);
      case act::busy:
      case act::finish:
        next.on = draw_any_stream();
        return;
      case act::wait:
        next.on = draw_any_stream();
        next.before = draw_any_stream();
        return captures_.note_wait(next);
      case act::begin_phase:
        next.how = static_cast<std::uint8_t>(one_in(5) ? phase::prefill : one_in(2) ? phase::decode : phase::mixed);
        return;
      case act::trim:
        next.bytes = below(64) * mib;
        return;
      case act::set_cached_max: {
        const cached_bound bound = draw_bound();
        next.how = static_cast<std::uint8_t>(bound.mode);
        next.bytes = bound.bytes;
        return;
      }
      case act::set_capacity:
        next.bytes = one_in(4) ? 0 : (8 + below(200)) * mib;
        return;
      case act::set_enabled:
        next.how = one_in(4) ? 0 : 1;
        return;
      case act::set_others:
        next.bytes = below(16) * mib;
        return;
      case act::plan_fault:
        return draw_fault(next);
      case act::misuse:
        return draw_misuse(next);
      case act::begin_capture:
      case act::end_capture:
      case act::abort_capture:
      case act::launch:
      case act::release_graph:
      case act::end_stream:
      case act::begin_profile:
      case act::end_profile:
      case act::prewarm:
      case act::prewarm_profile:
      case act::verify_profile:
        if (!captures_.fill(
                next, [this] { return draw_size(); }, last_block_))
          draw_allocate(next);
        return;
      case act::end_step:
      case act::drain:
      case act::reset_peaks:
      case act::end_actor:
        return;
    }
  }

  void draw_allocate(operation& next) {
    next.what = act::allocate;
    next.block = ++last_block_;
    next.bytes = draw_size();
    next.on = captures_.stream_of_request(draw_stream());
    live_.push_back({next.block, next.bytes, next.on});
    live_bytes_ += next.bytes;
  }

  void draw_free(operation& next) {
    if (live_.empty()) return draw_allocate(next);
    drawn_block& victim = live_[below(live_.size())];
    next.what = act::free_block;
    next.block = victim.number;
    next.how = small_below(way_count);
    next.on = one_in(4) ? victim.on : draw_any_stream();
    live_bytes_ -= victim.bytes;
    freed_[freed_next_++ % freed_kept] = victim.number;
    victim = live_.back();
    live_.pop_back();
  }

  void draw_use(operation& next) {
    if (live_.empty()) return draw_allocate(next);
    next.block = live_[below(live_.size())].number;
    next.how = small_below(2);
    next.on = draw_any_stream();
  }

  void draw_fault(operation& next) {
    const sim_call calls[] = {sim_call::allocate,    sim_call::free,       sim_call::record_event,
                              sim_call::query_event, sim_call::wait_event, sim_call::query_memory};
    planned_fault& fault = next.fault;
    fault.call = calls[below(6)];
    fault.nth = 1 + below(4);
    const bool oom = fault.call == sim_call::allocate && one_in(2);
    fault.with = oom ? status::device_out_of_memory : status::backend_failed;
    // A driver that fails for good is left alone a while, then it works again.
    fault.persistent = one_in(4);
    if (failing_for_good_) {
      fault = {failing_, 1, true, status::ok};
      failing_for_good_ = false;
    } else if (fault.persistent) {
      failing_for_good_ = true;
      failing_ = fault.call;
    }
  }

  void draw_misuse(operation& next) {
    const auto which = static_cast<mistake>(below(mistake_count));
    next.how = static_cast<std::uint8_t>(which);
    next.on = draw_any_stream();
    next.bytes = below(4);
    if (which == mistake::second_free) {
      next.block = freed_[below(freed_kept)];
    } else if (!live_.empty()) {
      next.block = live_[below(live_.size())].number;
    }
  }

  std::mt19937_64 random_;
  capture_drawer captures_;
  plan made_;
  std::uint32_t weights_[act_count] = {};
  std::vector<drawn_block> live_;
  std::uint32_t freed_[freed_kept] = {};
  std::size_t freed_next_ = 0;
  std::uint32_t last_block_ = 0;
  std::uint64_t live_bytes_ = 0;
  std::uint64_t live_max_ = 0;
  std::uint64_t pressure_bytes_ = 0;
  std::uint64_t size_max_ = mib;
  std::uint64_t favourites_[8] = {};
  std::uint64_t stay_ = 1;
  std::uint64_t step_ = 0;
  std::uint8_t actor_ = 0;
  bool small_only_ = false;
  bool failing_for_good_ = false;
  sim_call failing_ = sim_call::allocate;
};

}  // namespace

plan draw_plan(std::uint64_t seed, std::uint64_t steps) { return drawer(seed).draw(steps); }

}  // namespace arcalloc::testing
