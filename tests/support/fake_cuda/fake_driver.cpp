// SPDX-License-Identifier: Apache-2.0
#include "fake_driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace arcalloc::fake_cuda {

namespace {

std::uint64_t resets = 0;

// Streams that the fake numbers itself: apart from those that tests name.
constexpr std::uint64_t own_streams = std::uint64_t{1} << 40;

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* const text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

/// What a program that knows nothing of the fake finds: one device, as the environment says.
settings settings_of_process() {
  settings found;
  found.devices.resize(number_from("FAKE_CUDA_DEVICES", 1));
  for (sim_options& device : found.devices) {
    device.memory_bytes = number_from("FAKE_CUDA_MEMORY_MB", 24576) << 20;
    device.others_bytes = number_from("FAKE_CUDA_OTHERS_MB", 0) << 20;
  }
  found.has_contents = number_from("FAKE_CUDA_CONTENTS", 1) != 0;
  found.version = static_cast<int>(number_from("FAKE_CUDA_VERSION", 13000));
  return found;
}

}  // namespace

captured_body::~captured_body() {
  if (graph != sim_graph::none) device.sim->forget_graph(graph);
}

fake_driver& fake_driver::get() {
  static auto* const only = new fake_driver;  // never destroyed: programs call the driver until they end
  return *only;
}

fake_driver::fake_driver() {
  reset(settings_of_process());
  if (const char* const path = std::getenv("FAKE_CUDA_SHARED"); path != nullptr) card = shared_card::open(path);
}

void fake_driver::look_at_card(fake_device& device) {
  if (card == nullptr || device.ordinal != 0) return;
  device.sim->set_others_bytes(how.devices.front().others_bytes + card->others_bytes());
}

void fake_driver::tell_card(fake_device& device) {
  if (card != nullptr && device.ordinal == 0) card->set_taken_bytes(device.sim->lent_bytes());
}

thread_state& this_thread() {
  thread_local constinit thread_state state;
  if (state.process != resets) {
    state = {};
    state.process = resets;
  }
  return state;
}

result result_of(status outcome) {
  switch (outcome) {
    case status::ok:
      return result::success;
    case status::device_out_of_memory:
      return result::out_of_memory;
    case status::invalid_argument:
      return result::invalid_value;
    case status::backend_unavailable:
      return result::device_unavailable;
    case status::shutting_down:
      return result::deinitialized;
    case status::capture_miss:
      return result::capture_unsupported;
    default:
      return result::unknown;
  }
}

void fake_driver::reset(const settings& wanted) {
  const std::lock_guard guard(mutex);
  ++resets;
  graphs.clear();
  captures.clear();
  events.clear();
  devices.clear();
  calls_.clear();
  plans_.clear();
  broken_.clear();
  always_ = result::success;
  is_initialised = false;
  last_capture = last_stream = next_group = 0;
  how = wanted;
  for (const sim_options& made_of : how.devices) (void)add_device(made_of);
}

int fake_driver::add_device(const sim_options& made_of) {
  const std::lock_guard guard(mutex);
  auto fresh = std::make_unique<fake_device>();
  fresh->sim = std::make_unique<sim_backend>(made_of);
  fresh->primary.device = fresh.get();
  fresh->primary.legacy = {&fresh->primary, stream{own_streams}, true, true, nullptr, std::make_shared<work_queue>()};
  auto place = std::find(devices.begin(), devices.end(), nullptr);
  if (place == devices.end()) place = devices.insert(devices.end(), nullptr);
  fresh->ordinal = static_cast<int>(place - devices.begin());
  *place = std::move(fresh);
  return (*place)->ordinal;
}

void fake_driver::remove_device(int ordinal) {
  const std::lock_guard guard(mutex);
  auto& place = devices.at(static_cast<std::size_t>(ordinal));
  fake_device* const leaving = place.get();
  std::erase_if(graphs, [leaving](const auto& known) { return &known.second->body->device == leaving; });
  std::erase_if(captures, [leaving](const auto& open) { return open.second->origin->of->device == leaving; });
  std::erase_if(events, [leaving](const auto& known) { return known.second->of->device == leaving; });
  place = nullptr;
}

cuda::stream_handle* fake_driver::adopt(int ordinal, stream number) {
  const std::lock_guard guard(mutex);
  cuda::context_handle& primary = devices.at(static_cast<std::size_t>(ordinal))->primary;
  for (const auto& [handle, made] : primary.streams) {
    if (made->number == number) return handle;
  }
  auto fresh = std::make_unique<cuda::stream_handle>();
  *fresh = {&primary, number, false, false, nullptr, std::make_shared<work_queue>()};
  cuda::stream_handle* const handle = fresh.get();
  primary.streams[handle] = std::move(fresh);
  return handle;
}

stream fake_driver::number_of(int ordinal, cuda::stream_handle* on) {
  const std::lock_guard guard(mutex);
  if (!this_thread().push(&devices.at(static_cast<std::size_t>(ordinal))->primary)) return stream{};
  const cuda::stream_handle* const meant = stream_of(on);
  this_thread().pop();
  return meant == nullptr ? stream{} : meant->number;
}

result fake_driver::order(int ordinal, stream later, stream earlier) {
  const std::lock_guard guard(mutex);
  cuda::context_handle& primary = devices.at(static_cast<std::size_t>(ordinal))->primary;
  const auto find = [&](stream number) {
    cuda::stream_handle* found = nullptr;
    for_each_stream(primary, [&](cuda::stream_handle& at) { found = at.number == number ? &at : found; });
    return found != nullptr ? found : adopt(ordinal, number);
  };
  cuda::stream_handle& after = *find(later);
  cuda::stream_handle& before = *find(earlier);
  return make_wait(after, before, before.in != nullptr);
}

void fake_driver::fail(const std::string& function, std::uint64_t nth, bool persistent, result with) {
  const std::lock_guard guard(mutex);
  plans_[function] = {calls_[function] + nth, persistent, with};
}

std::uint64_t fake_driver::calls(const std::string& function) const {
  const std::lock_guard guard(mutex);
  const auto found = calls_.find(function);
  return found == calls_.end() ? 0 : found->second;
}

std::vector<std::string> fake_driver::convictions(int ordinal) const {
  const std::lock_guard guard(mutex);
  const fake_device& asked = *devices.at(static_cast<std::size_t>(ordinal));
  std::vector<std::string> all = asked.complaints;
  for (const std::string& one : asked.sim->convictions()) all.push_back(one);
  return all;
}

result fake_driver::enter(const char* function, needs what) {
  const std::uint64_t number = ++calls_[function];
  const auto plan = plans_.find(function);
  if (plan != plans_.end()) {
    const planned& due = plan->second;
    if (number == due.number || (due.is_persistent && number > due.number)) return due.with;
  }
  if (always_ != result::success && what != needs::nothing) return always_;
  if (what != needs::nothing && !is_initialised && holds(rule::calls_need_init)) return result::not_initialized;
  if (what == needs::context && current() == nullptr) {
    if (holds(rule::calls_need_a_context) || !this_thread().push(&devices.front()->primary)) {
      return result::invalid_context;
    }
  }
  return result::success;
}

fake_device* fake_driver::known_device(cuda::device_number number) {
  const bool is_known = number >= 0 && static_cast<std::size_t>(number) < devices.size();
  return is_known ? devices[static_cast<std::size_t>(number)].get() : nullptr;
}

cuda::context_handle* fake_driver::current() { return this_thread().top(); }

cuda::stream_handle* fake_driver::stream_of(cuda::stream_handle* said) {
  cuda::context_handle& context = *current();
  const auto number = reinterpret_cast<std::uintptr_t>(said);
  if (number <= cuda::legacy_stream_number) return &context.legacy;
  if (number != cuda::per_thread_stream_number) {
    // A stream of another context of this process is known, too.
    for (const auto& each : devices) {
      if (each == nullptr) continue;
      if (each->primary.streams.count(said) != 0) return said;
      for (const auto& made : each->contexts) {
        if (made->streams.count(said) != 0) return said;
      }
    }
    return nullptr;
  }
  const std::thread::id thread =
      holds(rule::threads_have_their_own_streams) ? std::this_thread::get_id() : std::thread::id{};
  auto& own = context.of_threads[thread];
  if (own == nullptr) {
    own = std::make_unique<cuda::stream_handle>();
    const stream numbered = how.thread_stream != nullptr ? how.thread_stream() : stream{own_streams + ++last_stream};
    *own = {&context, numbered, true, false, nullptr, std::make_shared<work_queue>()};
  }
  return own.get();
}

namespace {

void wait_for(cuda::stream_handle& later, const cuda::stream_handle& earlier) {
  work_item item;
  item.after = earlier.work;
  item.position = earlier.work->enqueued();
  if (item.position != 0 && later.work != earlier.work) later.work->push(std::move(item));
}

}  // namespace

result fake_driver::enqueue(cuda::stream_handle& on, work_item item) {
  if (const result ordered = order_with_legacy(on); ordered != result::success) return ordered;
  fake_device& device = *on.of->device;
  const bool is_done_at_once = on.in != nullptr && !holds(rule::captured_work_is_not_done);
  const stream number = is_done_at_once ? on.of->legacy.number : on.number;
  const auto touch = [&](cuda::device_address address) {
    if (item.bytes != 0)
      device.sim->use(number, reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), item.bytes);
  };
  using what = work_item::what;
  if (item.is == what::copy || item.is == what::to_host) touch(item.from);
  if (item.is != what::to_host) touch(item.to);
  if (!how.has_contents) return result::success;
  if (on.in != nullptr) {
    on.in->work.push_back(std::move(item));
    return result::success;
  }
  if (item.is == what::to_device) {
    const auto* const read = static_cast<const unsigned char*>(item.host);
    item.staged.assign(read, read + item.bytes);
  }
  if (!holds(rule::copies_follow_their_stream)) {
    (void)device.bytes.carry_out(item);
    return result::success;
  }
  on.work->push(std::move(item));
  return result::success;
}

void fake_driver::run(fake_device& device, work_queue& work, std::uint64_t position) {
  work.run(position, [&device](const work_item& item) {
    if (!device.bytes.carry_out(item))
      device.complaints.emplace_back("work on memory that is not lent, when it was done");
  });
}

result fake_driver::order_with_legacy(cuda::stream_handle& on) {
  cuda::context_handle& context = *on.of;
  sim_backend& sim = *context.device->sim;
  if (on.is_legacy) {
    result found = result::success;
    for_each_stream(context, [&](cuda::stream_handle& other) {
      if (other.is_legacy || (!other.is_blocking && holds(rule::non_blocking_streams_are_apart))) return;
      if (other.in != nullptr) {
        other.in->is_invalid = true;
        found = result::capture_implicit;
      } else if (holds(rule::legacy_stream_orders_blocking_ones)) {
        sim.wait(on.number, other.number);
        wait_for(on, other);
      }
    });
    return found;
  }
  const bool is_ordered =
      on.is_blocking ? holds(rule::legacy_stream_orders_blocking_ones) : !holds(rule::non_blocking_streams_are_apart);
  if (is_ordered && on.in == nullptr) {
    sim.wait(on.number, context.legacy.number);
    wait_for(on, context.legacy);
  }
  return result::success;
}

result fake_driver::unsafe_call(const char* function) {
  const capture_mode mode = this_thread().mode;
  bool is_prohibited = false;
  for (const auto& [id, open] : captures) {
    const bool is_own = open->began_on == std::this_thread::get_id();
    bool hits = is_own ? open->mode != capture_mode::relaxed && mode != capture_mode::relaxed
                       : open->mode == capture_mode::global && mode == capture_mode::global;
    if (mode == capture_mode::relaxed && !holds(rule::relaxed_mode_permits)) hits = true;
    if (!hits || !holds(rule::unsafe_calls_fail_in_a_capture)) continue;
    is_prohibited = true;
    if (open->is_invalid || !holds(rule::unsafe_calls_invalidate)) continue;
    open->is_invalid = true;
    std::string complaint(function);
    complaint.append(" invalidates capture ").append(std::to_string(id));
    open->origin->of->device->complaints.push_back(std::move(complaint));
  }
  return is_prohibited ? result::capture_unsupported : result::success;
}

void fake_driver::synchronise(fake_device& device) {
  const auto settle = [&](cuda::stream_handle& at) {
    event point = event::none;
    if (at.in != nullptr || device.sim->record_event(at.number, point) != status::ok) return;
    (void)device.sim->wait_event(point);
    device.sim->drop_event(point);
    run(device, *at.work, at.work->enqueued());
  };
  for_each_stream(device.primary, settle);
  for (const auto& made : device.contexts) for_each_stream(*made, settle);
}

void fake_driver::join(cuda::stream_handle& joining, capture& with) {
  joining.in = &with;
  with.streams.insert(&joining);
}

result fake_driver::make_wait(cuda::stream_handle& later, cuda::stream_handle& earlier, bool is_captured) {
  sim_backend& sim = *later.of->device->sim;
  if (!is_captured) {
    if (later.in != nullptr && holds(rule::captures_are_isolated)) {
      later.in->is_invalid = true;
      std::string complaint("a wait for work outside of it invalidates capture ");
      later.of->device->complaints.push_back(complaint.append(std::to_string(later.in->id)));
      return result::capture_isolation;
    }
    if (later.in == nullptr && holds(rule::waiting_for_an_event_orders)) {
      sim.wait(later.number, earlier.number);
      wait_for(later, earlier);
    }
    return result::success;
  }
  if (later.in != nullptr && later.in != earlier.in) return result::capture_merge;
  if (later.is_legacy) return result::capture_implicit;
  join(later, *earlier.in);
  sim.wait(later.number, earlier.number);
  return result::success;
}

void fake_driver::give_back_kept(cuda::pool_handle& pool) {
  for (const auto& [bytes, address] : pool.kept) {
    (void)pool.device->sim->free(reinterpret_cast<void*>(static_cast<std::uintptr_t>(address)), bytes);
    pool.device->bytes.take_back(address);
  }
  pool.kept.clear();
}

result fake_driver::take_back(fake_device& device, cuda::device_address address) {
  const auto known = device.memory.find(address);
  const lent_memory leaving = known->second;
  void* const pointer = reinterpret_cast<void*>(static_cast<std::uintptr_t>(address));
  if (leaving.pool != nullptr && holds(rule::pool_keeps_until_trimmed)) {
    leaving.pool->kept.emplace(leaving.bytes, address);
  } else if (const status freed = device.sim->free(pointer, leaving.bytes); freed != status::ok) {
    return result_of(freed);
  } else {
    device.bytes.take_back(address);
  }
  device.memory.erase(known);
  tell_card(device);
  return result::success;
}

void fake_driver::end_context(cuda::context_handle& of) {
  fake_device& device = *of.device;
  synchronise(device);
  std::erase_if(events, [&](const auto& known) {
    if (known.second->of == &of && known.second->point != event::none) device.sim->drop_event(known.second->point);
    return known.second->of == &of;
  });
  std::vector<cuda::device_address> leaving;
  for (const auto& [address, lent] : device.memory) {
    if (lent.of == &of && holds(rule::contexts_take_their_memory_along)) leaving.push_back(address);
  }
  for (const cuda::device_address address : leaving) (void)take_back(device, address);
  of.streams.clear();
  of.of_threads.clear();
}

}  // namespace arcalloc::fake_cuda

extern "C" arcalloc::fake_cuda::control* arcalloc_fake_cuda() { return &arcalloc::fake_cuda::fake_driver::get(); }
