// SPDX-License-Identifier: Apache-2.0
// Fuzzing the C ABI: each byte of the input is a call, in any order, with nulls, with structs of other sizes, with
// values that are not listed, with blocks that are spent, torn or another allocator's, on a device that sometimes
// answers what no device may. Judged by the conventions at the top of arcalloc.h: what is wrong is
// ARCALLOC_INVALID_ARGUMENT and leaves its output alone, and whatever the order, the device underneath convicts nobody
// and has everything back at the end. Only what the contract calls unseen is left out: an object after its destroy.
#include <array>
#include <utility>

#include "drawn_struct.hpp"
#include "lying_device.hpp"

namespace arcalloc::testing {

namespace {

constexpr std::size_t calls_max = 300;
constexpr std::size_t live_max = 32;
constexpr std::size_t spent_max = 8;
constexpr std::uint64_t mib = 1 << 20;

struct held_block {
  arcalloc_block piece;
  std::size_t bytes;
};

/// An allocator, and what its caller knows of it.
struct one_allocator {
  arcalloc_allocator* self = nullptr;
  std::size_t device = 0;
  std::vector<held_block> live;
  std::vector<held_block> spent;
};

struct one_device {
  lying_device below{{600 * mib, 0, 4096}};
  arcalloc_device* self = nullptr;
  std::size_t allocators = 0;
};

std::int32_t draw_value(input_bytes& in) {
  constexpr std::int32_t values[] = {0, 1, 2, 3, 4, 5, 6, -1, 256, INT32_MIN, INT32_MAX};
  return values[in.below(16) % std::size(values)];
}

bool is_in(std::int32_t value, std::int32_t most) { return value >= 0 && value <= most; }

class calls_of_an_input {
 public:
  explicit calls_of_an_input(input_bytes& in) : in_(in) {}
  void run();

 private:
  one_device& any_device() { return devices_[in_.below(devices_.size())]; }
  one_allocator& any_allocator() { return allocators_[in_.below(allocators_.size())]; }
  sim_backend& sim_of(const one_allocator& of) { return devices_[of.device].below.sim; }
  void expect_refused(arcalloc_status outcome) { require(outcome == ARCALLOC_INVALID_ARGUMENT, "this is refused"); }

  void one_call();
  void make_device();
  void end_device();
  void make_allocator();
  void end_allocator(one_allocator& of);
  void allocate(one_allocator& at);
  void deallocate(one_allocator& at);
  void deallocate_live(one_allocator& at);
  void deallocate_wrong(one_allocator& at);
  void note_use(one_allocator& at);
  void set(one_allocator& at);
  void give_back(one_allocator& at);
  void read(one_allocator& at);
  void read_on_device();
  void text();
  void call_with_null();
  template <class Struct, class Call>
  void judge_reading(const one_allocator& at, Call call);
  template <class Call>
  void judge_text(Call call);
  void finish();

  input_bytes& in_;
  std::array<one_device, 2> devices_{};
  std::array<one_allocator, 3> allocators_{};
};

void calls_of_an_input::run() {
  for (std::size_t i = 0; in_.any() && i < calls_max; ++i) one_call();
  finish();
}

void calls_of_an_input::one_call() {
  const std::uint64_t which = in_.below(32);
  switch (which) {
    case 0:
      return make_device();
    case 1:
      return end_device();
    case 2:
    case 3:
      return make_allocator();
    case 4:
      return end_allocator(any_allocator());
    case 5:
      return text();
    case 6:
      return call_with_null();
    case 7: {
      lying_device& below = any_device().below;
      below.next = static_cast<lying_device::lie>(in_.below(lying_device::lies));
      return;
    }
    case 8:
      return read_on_device();
    default:
      break;
  }
  one_allocator& at = any_allocator();
  if (at.self == nullptr) return make_allocator();
  if (which < 18) return allocate(at);
  if (which < 24) return deallocate(at);
  if (which < 26) return note_use(at);
  if (which < 28) return set(at);
  if (which < 30) return give_back(at);
  return read(at);
}

void calls_of_an_input::make_device() {
  one_device& at = any_device();
  if (at.self != nullptr) return;
  drawn_struct<arcalloc_backend> drawn(in_);
  arcalloc_backend functions = at.below.functions();
  const std::uint64_t flaw = in_.below(16);
  if (flaw == 1) functions.granularity = in_.number(8) | 3;  // no power of two
  if (flaw == 2) functions.synchronous = 2;
  if (flaw == 3) functions.allocate = nullptr;
  if (flaw == 4) functions.wait_event = nullptr;
  if (flaw == 5) functions.query_memory = nullptr;
  drawn.fill(functions);
  const bool has_surplus = flaw == 6 && drawn.add_surplus();
  const arcalloc_status outcome = arcalloc_device_create(drawn.get(), &at.self);
  require((outcome == ARCALLOC_OK) == (at.self != nullptr), "a device where it is due");
  const bool is_right = drawn.is_possible() && !has_surplus && (flaw == 0 || flaw > 5);
  require(outcome == (is_right ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT),
          "a device of complete functions, and no other");
}

void calls_of_an_input::end_device() {
  one_device& at = any_device();
  const arcalloc_status outcome = arcalloc_device_destroy(at.self);
  if (at.allocators != 0) return expect_refused(outcome);
  require(outcome == ARCALLOC_OK, "a device without allocators ends");
  at.self = nullptr;
}

void calls_of_an_input::make_allocator() {
  one_allocator& at = any_allocator();
  if (at.self != nullptr) return;
  const std::size_t device = in_.below(devices_.size());
  one_device& on = devices_[device];
  drawn_struct<arcalloc_options> drawn(in_);
  arcalloc_options wanted{};
  const std::uint64_t flaw = in_.below(8);
  if (flaw == 1) wanted.cache = draw_value(in_);
  if (flaw == 2) wanted.cached_bytes_max_mode = draw_value(in_);
  if (flaw == 3) wanted.geometry = draw_value(in_);
  if (flaw == 4) wanted.oom_retry = draw_value(in_);
  if (flaw == 5) wanted.cached_bytes_max_from_environment = in_.byte();
  wanted.cached_bytes_max = in_.below(128) * mib;
  wanted.capacity_bytes = in_.below(4) == 0 ? in_.byte() * mib : 0;
  drawn.fill(wanted);
  const bool has_surplus = flaw == 6 && drawn.add_surplus();
  const bool is_right = drawn.is_possible() && !has_surplus && is_in(wanted.cache, 2) &&
                        is_in(wanted.cached_bytes_max_mode, 2) && is_in(wanted.geometry, 5) &&
                        is_in(wanted.oom_retry, 2) && wanted.cached_bytes_max_from_environment <= 1;
  const bool is_default = flaw == 7;
  const arcalloc_status outcome = arcalloc_create(on.self, is_default ? nullptr : drawn.get(), &at.self);
  require((outcome == ARCALLOC_OK) == (at.self != nullptr), "an allocator where it is due");
  const bool is_due = on.self != nullptr && (is_default || is_right);
  require(outcome == (is_due ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT), "an allocator of right options, and no other");
  require(arcalloc_device_of(at.self) == (is_due ? on.self : nullptr), "an allocator knows its device");
  if (!is_due) return;
  at.device = device;
  ++on.allocators;
}

void calls_of_an_input::end_allocator(one_allocator& of) {
  if (of.self == nullptr) return arcalloc_destroy(nullptr);
  one_device& on = devices_[of.device];
  on.below.next = lying_device::lie::none;  // a device that lies to a destructor keeps its memory
  for (const held_block& one : of.live) on.below.sim.handed_back(one.piece.address);
  arcalloc_destroy(of.self);
  --on.allocators;
  of = {};
}

void calls_of_an_input::allocate(one_allocator& at) {
  const std::size_t bytes = in_.below(8) == 0 ? in_.number(8) : in_.number(2) * (std::size_t{1} << in_.below(12));
  const arcalloc_stream on = in_.below(4);
  held_block fresh{{&in_, &in_}, bytes};
  const arcalloc_status outcome = arcalloc_allocate(at.self, bytes, on, &fresh.piece);
  require(is_in(outcome, ARCALLOC_SHUTTING_DOWN), "a listed status");
  const bool has_block = fresh.piece.address != nullptr || fresh.piece.record != nullptr;
  require(has_block == (outcome == ARCALLOC_OK && bytes != 0), "a block where it is due, and only there");
  if (!has_block) return;
  sim_of(at).handed_out(stream{on}, fresh.piece.address, bytes);
  sim_of(at).use(stream{on}, fresh.piece.address, bytes);
  at.live.push_back(fresh);
  if (at.live.size() > live_max) deallocate_live(at);
}

void calls_of_an_input::deallocate(one_allocator& at) {
  if (in_.below(4) == 0 || at.live.empty()) return deallocate_wrong(at);
  deallocate_live(at);
}

void calls_of_an_input::deallocate_live(one_allocator& at) {
  const std::size_t victim = in_.below(at.live.size());
  const held_block freed = at.live[victim];
  sim_of(at).handed_back(freed.piece.address);
  arcalloc_status outcome = ARCALLOC_OK;
  switch (in_.below(5)) {
    case 0:
      outcome = arcalloc_deallocate_address(at.self, freed.piece.address);
      break;
    case 1:
      outcome = arcalloc_deallocate_address_sized(at.self, freed.piece.address, freed.bytes);
      break;
    case 2:
      outcome = arcalloc_deallocate_on(at.self, freed.piece, in_.below(4));
      break;
    case 3:
      outcome = arcalloc_deallocate_address_on(at.self, freed.piece.address, in_.below(4));
      break;
    default:
      outcome = arcalloc_deallocate(at.self, freed.piece);
      break;
  }
  require(outcome == ARCALLOC_OK || devices_[at.device].below.has_lied, "a live block is taken back");
  arcalloc_counters now{};
  now.size = sizeof now;
  require(arcalloc_read_counters(at.self, &now) == ARCALLOC_OK, "counters are read");
  if (now.blocks_live == at.live.size()) {
    require(outcome != ARCALLOC_OK, "what is taken back is not live");
    return sim_of(at).handed_out(default_stream, freed.piece.address, freed.bytes);
  }
  at.live.erase(at.live.begin() + static_cast<std::ptrdiff_t>(victim));
  if (at.spent.size() == spent_max) at.spent.erase(at.spent.begin());
  at.spent.push_back(freed);
}

/// Blocks that are torn, spent, another allocator's, or asked back with another size.
void calls_of_an_input::deallocate_wrong(one_allocator& at) {
  char local = 0;
  const std::uint64_t kind = in_.below(6);
  if (kind == 0) {
    const arcalloc_block torn = in_.below(2) == 0 ? arcalloc_block{&local, nullptr} : arcalloc_block{nullptr, &local};
    require(arcalloc_deallocate(at.self, torn) == ARCALLOC_UNKNOWN_POINTER, "a torn block is unknown");
    require(arcalloc_note_use(at.self, torn, 1) == ARCALLOC_UNKNOWN_POINTER, "a torn block is unknown");
  } else if (kind == 1) {
    require(arcalloc_deallocate_address(at.self, &local) == ARCALLOC_UNKNOWN_POINTER, "a foreign address is unknown");
  } else if (kind == 2) {
    require(arcalloc_deallocate(at.self, arcalloc_block{}) == ARCALLOC_OK, "no block is nothing to do");
    require(arcalloc_deallocate_address_on(at.self, nullptr, 2) == ARCALLOC_OK, "no block is nothing to do");
  } else if (kind == 3 && !at.live.empty()) {
    const held_block& live = at.live[in_.below(at.live.size())];
    require(arcalloc_deallocate_address_sized(at.self, live.piece.address, live.bytes + 1) == ARCALLOC_INVALID_ARGUMENT,
            "a wrong size is refused");
  } else if (kind == 4 && !at.spent.empty()) {
    const held_block& spent = at.spent[in_.below(at.spent.size())];
    for (const held_block& one : at.live) {
      if (one.piece.address == spent.piece.address) return;  // it is that block's address now
    }
    const arcalloc_status outcome = arcalloc_deallocate(at.self, spent.piece);
    require(outcome == ARCALLOC_DOUBLE_FREE || outcome == ARCALLOC_UNKNOWN_POINTER, "what is spent is refused");
  } else if (kind == 5) {
    const one_allocator& other = any_allocator();
    if (&other == &at || other.live.empty()) return;
    require(arcalloc_deallocate(at.self, other.live.front().piece) == ARCALLOC_UNKNOWN_POINTER,
            "another allocator's block is unknown");
  }
}

void calls_of_an_input::note_use(one_allocator& at) {
  if (at.live.empty()) return;
  const held_block& used = at.live[in_.below(at.live.size())];
  const arcalloc_stream on = in_.below(4);
  sim_of(at).use(stream{on}, used.piece.address, used.bytes);
  const arcalloc_status outcome = in_.below(2) == 0 ? arcalloc_note_use(at.self, used.piece, on)
                                                    : arcalloc_note_use_address(at.self, used.piece.address, on);
  require(outcome == ARCALLOC_OK, "the use of a live block is noted");
}

void calls_of_an_input::set(one_allocator& at) {
  const std::int32_t value = draw_value(in_);
  const bool may_fail = devices_[at.device].below.has_lied;
  switch (in_.below(4)) {
    case 0: {
      const arcalloc_status outcome = arcalloc_set_cached_bytes_max(at.self, value, in_.below(64) * mib);
      return require(outcome == (is_in(value, 2) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT), "a listed mode is taken");
    }
    case 1: {
      const arcalloc_status outcome = arcalloc_set_capacity_bytes(at.self, in_.byte() * mib);
      return require(outcome == ARCALLOC_OK || outcome == ARCALLOC_CAPACITY_EXCEEDED || may_fail, "a capacity is set");
    }
    case 2: {
      const arcalloc_status outcome = arcalloc_set_enabled(at.self, value);
      if (!is_in(value, 1)) return expect_refused(outcome);
      return require(outcome == ARCALLOC_OK || may_fail, "the cache is switched");
    }
    default: {
      const arcalloc_status outcome = arcalloc_begin_phase(at.self, value);
      arcalloc_phase now = -1;
      require(arcalloc_current_phase(at.self, &now) == ARCALLOC_OK && is_in(now, 2), "there is a phase");
      if (!is_in(value, 2)) return expect_refused(outcome);
      require(now == value, "a phase begins");
      return require(outcome == ARCALLOC_OK || may_fail, "a phase begins");
    }
  }
}

void calls_of_an_input::give_back(one_allocator& at) {
  const bool drains = in_.below(2) == 0;
  const arcalloc_status outcome = drains ? arcalloc_drain(at.self) : arcalloc_trim(at.self, in_.below(64) * mib);
  require(outcome == ARCALLOC_OK || devices_[at.device].below.has_lied, "memory goes back");
  require(arcalloc_end_step(at.self) == ARCALLOC_OK, "a step ends");
}

template <class Struct, class Call>
void calls_of_an_input::judge_reading(const one_allocator& at, Call call) {
  drawn_struct<Struct> out(in_);
  const arcalloc_status outcome = call(at.self, out.get());
  require(outcome == (out.is_possible() ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT), "a reading of a possible size");
  out.judge_output(outcome);
  expect_refused(call(nullptr, out.get()));
  expect_refused(call(at.self, nullptr));
}

void calls_of_an_input::read(one_allocator& at) {
  switch (in_.below(6)) {
    case 0:
      return judge_reading<arcalloc_counters>(at, arcalloc_read_counters);
    case 1:
      return judge_reading<arcalloc_counters>(at, arcalloc_read_step_counters);
    case 2:
      return judge_reading<arcalloc_cap_arithmetic>(at, arcalloc_read_cap);
    case 3:
      return judge_reading<arcalloc_failure>(at, arcalloc_last_failure);
    case 4: {
      if (at.live.empty()) return require(arcalloc_reset_peaks(at.self) == ARCALLOC_OK, "peaks are reset");
      void* const address = at.live[in_.below(at.live.size())].piece.address;
      return judge_reading<arcalloc_segment_extent>(at,
                                                    [&](const arcalloc_allocator* self, arcalloc_segment_extent* out) {
                                                      return arcalloc_locate(self, address, out);
                                                    });
    }
    default: {
      drawn_struct<arcalloc_segment_extent> out(in_);
      const arcalloc_status outcome = arcalloc_locate(at.self, &out, out.get());
      require(outcome == (out.is_possible() ? ARCALLOC_UNKNOWN_POINTER : ARCALLOC_INVALID_ARGUMENT),
              "nothing is there");
      return out.judge_output(outcome);
    }
  }
}

void calls_of_an_input::read_on_device() {
  drawn_struct<arcalloc_build> build(in_);
  const arcalloc_status built = arcalloc_built_as(build.get());
  require(built == (build.is_possible() ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT), "a build of a possible size");
  build.judge_output(built);

  one_device& at = any_device();
  drawn_struct<arcalloc_memory_info> out(in_);
  const bool is_honest = at.below.next != lying_device::lie::strange_status;
  const arcalloc_status outcome = arcalloc_device_query_memory(at.self, out.get());
  const bool is_right = at.self != nullptr && out.is_possible();
  if (!is_right) expect_refused(outcome);
  if (is_right) require(outcome == (is_honest ? ARCALLOC_OK : ARCALLOC_BACKEND_FAILED), "a device is asked");
  out.judge_output(outcome);
  require(std::string(arcalloc_device_name(at.self)) == (at.self == nullptr ? "" : "lying"), "a device has its name");
}

/// As snprintf: the length whatever the capacity, ended by zero, and nothing written beyond.
template <class Call>
void calls_of_an_input::judge_text(Call call) {
  const int length = call(nullptr, 0);
  const std::size_t capacity = 1 + in_.number(2) % 4096;
  const std::unique_ptr<char[]> room = std::make_unique<char[]>(capacity);
  std::fill(room.get(), room.get() + capacity, 'x');
  require(call(room.get(), capacity) == length, "a text has one length");
  if (length < 0) return require(length == -ARCALLOC_INVALID_ARGUMENT, "a text of nothing is refused");
  const std::size_t written = strnlen(room.get(), capacity);
  require(written == std::min(static_cast<std::size_t>(length), capacity - 1), "a text is cut and ended");
  require(call(nullptr, capacity) == -ARCALLOC_INVALID_ARGUMENT, "a text needs room");
}

void calls_of_an_input::text() {
  const std::int32_t value = draw_value(in_);
  for (const char* const name : {arcalloc_status_name(value), arcalloc_phase_name(value), arcalloc_geometry_name(value),
                                 arcalloc_cap_source_name(static_cast<std::uint64_t>(value))}) {
    require(name != nullptr && *name != 0, "everything has a name");
  }
  drawn_struct<arcalloc_failure> failure(in_);
  drawn_struct<arcalloc_counters> said(in_);
  arcalloc_counters numbers{};
  numbers.version = in_.below(8) == 0 ? 2 : ARCALLOC_COUNTERS_VERSION;
  numbers.requests = in_.number(8);
  numbers.hits = in_.number(8);
  numbers.cap_source = in_.byte();
  numbers.cached_bytes_max = in_.below(2) == 0 ? ARCALLOC_NO_BOUND : in_.number(8);
  said.fill(numbers);
  arcalloc_failure record{};
  record.outcome = value;
  record.requested_bytes = in_.number(8);
  record.driver_free_bytes = ARCALLOC_NO_BOUND;
  failure.fill(record);
  const std::uint64_t steps = in_.number(in_.below(2) == 0 ? 1 : 8);
  judge_text([&](char* to, std::size_t room) { return arcalloc_failure_text(failure.get(), to, room); });
  judge_text([&](char* to, std::size_t room) { return arcalloc_step_report_text(said.get(), steps, to, room); });
  judge_text([&](char* to, std::size_t room) { return arcalloc_counters_json(said.get(), to, room); });
  const arcalloc_counters* const sources[1] = {said.get()};
  judge_text([&](char* to, std::size_t room) { return arcalloc_metrics_text(sources, nullptr, 1, to, room); });
  drawn_struct<arcalloc_counters> window(in_);
  const arcalloc_status outcome = arcalloc_counters_between(said.get(), said.get(), window.get());
  window.judge_output(outcome);
}

void calls_of_an_input::call_with_null() {
  arcalloc_block piece{&in_, &in_};
  expect_refused(arcalloc_allocate(nullptr, 100, 0, &piece));
  require(piece.address == nullptr && piece.record == nullptr, "a refused request gives no block");
  expect_refused(arcalloc_deallocate(nullptr, piece));
  expect_refused(arcalloc_deallocate_address(nullptr, &piece));
  expect_refused(arcalloc_deallocate_address_sized(nullptr, &piece, 1));
  expect_refused(arcalloc_note_use_address(nullptr, &piece, 1));
  expect_refused(arcalloc_trim(nullptr, 0));
  expect_refused(arcalloc_drain(nullptr));
  expect_refused(arcalloc_end_step(nullptr));
  expect_refused(arcalloc_reset_peaks(nullptr));
  expect_refused(arcalloc_host_device_create(64 * mib, nullptr));
  expect_refused(arcalloc_device_create(nullptr, nullptr));
  expect_refused(arcalloc_create(nullptr, nullptr, nullptr));
  drawn_struct<arcalloc_options> options(in_);
  const arcalloc_status outcome = arcalloc_options_from_environment(options.get(), nullptr, nullptr);
  if (!options.is_possible()) expect_refused(outcome);
}

void calls_of_an_input::finish() {
  for (one_allocator& one : allocators_) end_allocator(one);
  for (one_device& one : devices_) {
    require(arcalloc_device_destroy(one.self) == ARCALLOC_OK, "a device without allocators ends");
    one.below.sim.convict_leaks();
    if (const auto convicted = one.below.sim.convictions(); !convicted.empty()) convict(convicted.front());
  }
}

}  // namespace

int one_input(const std::uint8_t* bytes, std::size_t size) {
  input_bytes in(bytes, size);
  calls_of_an_input(in).run();
  return 0;
}

}  // namespace arcalloc::testing
