// SPDX-License-Identifier: Apache-2.0
// A program that uses the driver API and knows nothing of arcalloc: `driver_program HOW WHAT [FILE]`. HOW is how it
// finds the driver's functions: `linked` (where it was built so), `dlsym` or `asked`, the driver's own
// cuGetProcAddress. It prints what it came to on stdout. What the fake driver was asked meanwhile goes to stderr, after
// `driver:`.
#include <dlfcn.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <thread>
#include <vector>

#include "support/fake_cuda/driver_functions.hpp"

// A program is built in one way or the other: linked, it refers to the functions themselves.
#ifdef DRIVER_IS_LINKED
#define LINKED(function) (&(function))
#else
#define LINKED(function) static_cast<decltype(function)*>(nullptr)
#endif

namespace {

using arcalloc::cuda::context_handle;
using arcalloc::cuda::device_address;
using arcalloc::cuda::event_handle;
using arcalloc::cuda::result;
using arcalloc::cuda::stream_handle;

constexpr unsigned int non_blocking = 1;

[[noreturn]] void fail(const char* what, result why) {
  std::printf("%s: %u\n", what, static_cast<unsigned int>(why));
  std::exit(1);
}
void need(result outcome, const char* what) {
  if (outcome != result::success) fail(what, outcome);
}

/// The driver, however it was found.
struct driver {
  explicit driver(const std::string& how) {
    if (how != "linked") library = ::dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    if (how == "asked") asks = look_up<decltype(cuGetProcAddress_v2)>("cuGetProcAddress_v2");
    find(init, "cuInit", "cuInit", LINKED(cuInit));
    find(retain, "cuDevicePrimaryCtxRetain", "cuDevicePrimaryCtxRetain", LINKED(cuDevicePrimaryCtxRetain));
    find(leave, "cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease_v2", LINKED(cuDevicePrimaryCtxRelease_v2));
    find(make_current, "cuCtxSetCurrent", "cuCtxSetCurrent", LINKED(cuCtxSetCurrent));
    find(create_context, "cuCtxCreate", "cuCtxCreate_v2", LINKED(cuCtxCreate_v2));
    find(destroy_context, "cuCtxDestroy", "cuCtxDestroy_v2", LINKED(cuCtxDestroy_v2));
    find(allocate, "cuMemAlloc", "cuMemAlloc_v2", LINKED(cuMemAlloc_v2));
    find(free, "cuMemFree", "cuMemFree_v2", LINKED(cuMemFree_v2));
    find(info, "cuMemGetInfo", "cuMemGetInfo_v2", LINKED(cuMemGetInfo_v2));
    find(range, "cuMemGetAddressRange", "cuMemGetAddressRange_v2", LINKED(cuMemGetAddressRange_v2));
    find(allocate_async, "cuMemAllocAsync", "cuMemAllocAsync", LINKED(cuMemAllocAsync));
    find(free_async, "cuMemFreeAsync", "cuMemFreeAsync", LINKED(cuMemFreeAsync));
    find(create_stream, "cuStreamCreate", "cuStreamCreate", LINKED(cuStreamCreate));
    find(destroy_stream, "cuStreamDestroy", "cuStreamDestroy_v2", LINKED(cuStreamDestroy_v2));
    find(wait, "cuStreamSynchronize", "cuStreamSynchronize", LINKED(cuStreamSynchronize));
    find(set, "cuMemsetD8Async", "cuMemsetD8Async", LINKED(cuMemsetD8Async));
    find(copy_out, "cuMemcpyDtoHAsync", "cuMemcpyDtoHAsync_v2", LINKED(cuMemcpyDtoHAsync_v2));
    find(create_event, "cuEventCreate", "cuEventCreate", LINKED(cuEventCreate));
    find(record, "cuEventRecord", "cuEventRecord", LINKED(cuEventRecord));
    find(wait_for, "cuStreamWaitEvent", "cuStreamWaitEvent", LINKED(cuStreamWaitEvent));
    find(begin_capture, "cuStreamBeginCapture", "cuStreamBeginCapture_v2", LINKED(cuStreamBeginCapture_v2));
    find(end_capture, "cuStreamEndCapture", "cuStreamEndCapture", LINKED(cuStreamEndCapture));
    fake = look_up<decltype(arcalloc_fake_cuda)>("arcalloc_fake_cuda")();
    need(init(0), "cuInit");
    need(retain(&primary, 0), "cuDevicePrimaryCtxRetain");
    need(make_current(primary), "cuCtxSetCurrent");
  }

  template <class Function>
  Function* look_up(const char* symbol) const {
    auto* const found = reinterpret_cast<Function*>(::dlsym(library, symbol));
    if (found == nullptr) fail(symbol, result::not_found);
    return found;
  }
  template <class Function>
  void find(Function*& out, const char* plain, const char* symbol, Function* linked) const {
    if (linked != nullptr) {
      out = linked;
      return;
    }
    if (asks == nullptr) {
      out = look_up<Function>(symbol);
      return;
    }
    void* found = nullptr;
    need(asks(plain, &found, 13000, 0, nullptr), plain);
    out = reinterpret_cast<Function*>(found);
  }

  void* library = RTLD_DEFAULT;
  decltype(cuGetProcAddress_v2)* asks = nullptr;
  decltype(cuInit)* init = nullptr;
  decltype(cuDevicePrimaryCtxRetain)* retain = nullptr;
  decltype(cuDevicePrimaryCtxRelease_v2)* leave = nullptr;
  decltype(cuCtxSetCurrent)* make_current = nullptr;
  decltype(cuCtxCreate_v2)* create_context = nullptr;
  decltype(cuCtxDestroy_v2)* destroy_context = nullptr;
  decltype(cuMemAlloc_v2)* allocate = nullptr;
  decltype(cuMemFree_v2)* free = nullptr;
  decltype(cuMemGetInfo_v2)* info = nullptr;
  decltype(cuMemGetAddressRange_v2)* range = nullptr;
  decltype(cuMemAllocAsync)* allocate_async = nullptr;
  decltype(cuMemFreeAsync)* free_async = nullptr;
  decltype(cuStreamCreate)* create_stream = nullptr;
  decltype(cuStreamDestroy_v2)* destroy_stream = nullptr;
  decltype(cuStreamSynchronize)* wait = nullptr;
  decltype(cuMemsetD8Async)* set = nullptr;
  decltype(cuMemcpyDtoHAsync_v2)* copy_out = nullptr;
  decltype(cuEventCreate)* create_event = nullptr;
  decltype(cuEventRecord)* record = nullptr;
  decltype(cuStreamWaitEvent)* wait_for = nullptr;
  decltype(cuStreamBeginCapture_v2)* begin_capture = nullptr;
  decltype(cuStreamEndCapture)* end_capture = nullptr;
  arcalloc::fake_cuda::control* fake = nullptr;
  context_handle* primary = nullptr;

  [[nodiscard]] stream_handle* stream() const {
    stream_handle* made = nullptr;
    need(create_stream(&made, non_blocking), "cuStreamCreate");
    return made;
  }
  [[nodiscard]] device_address lent(std::size_t bytes) const {
    device_address address = 0;
    need(allocate(&address, bytes), "cuMemAlloc");
    return address;
  }
};

/// Blocks with something in them, as a program has them, and one number for all that was read back.
class contents {
 public:
  explicit contents(const driver& with) : driver_(with), on_(with.stream()) {}

  void allocate(std::uint64_t id, std::size_t bytes) {
    const device_address address = driver_.lent(bytes);
    need(driver_.set(address, byte_of(id), bytes, on_), "cuMemsetD8Async");
    blocks_[id] = {address, bytes};
    live_ += bytes;
    most_ = std::max(most_, live_);
  }
  void free(std::uint64_t id) {
    const auto [address, bytes] = blocks_.at(id);
    unsigned char ends[2] = {};
    need(driver_.copy_out(&ends[0], address, 1, on_), "cuMemcpyDtoHAsync");
    need(driver_.copy_out(&ends[1], address + bytes - 1, 1, on_), "cuMemcpyDtoHAsync");
    // Nobody waits for the copies but the free.
    need(driver_.free(address), "cuMemFree");
    hash_ = (hash_ ^ ends[0]) * 1099511628211ULL;
    hash_ = (hash_ ^ ends[1]) * 1099511628211ULL;
    if (ends[0] != byte_of(id) || ends[1] != byte_of(id)) ++wrong_;
    live_ -= bytes;
    blocks_.erase(id);
  }
  void free_all() {
    while (!blocks_.empty()) free(blocks_.begin()->first);
  }
  void print() const {
    std::printf("read %016llx, %llu wrong\n", static_cast<unsigned long long>(hash_),
                static_cast<unsigned long long>(wrong_));
    std::fprintf(stderr, "driver: live_bytes_peak %llu\n", static_cast<unsigned long long>(most_));
  }

 private:
  struct place {
    device_address address = 0;
    std::size_t bytes = 0;
  };
  static unsigned char byte_of(std::uint64_t id) { return static_cast<unsigned char>(id * 37 + 1); }

  const driver& driver_;
  stream_handle* on_;
  std::map<std::uint64_t, place> blocks_;
  std::uint64_t hash_ = 14695981039346656037ULL;
  std::uint64_t wrong_ = 0;
  std::uint64_t live_ = 0;
  std::uint64_t most_ = 0;
};

/// The rows of a trace: t_us,op,id,size,stream.
void replay(const driver& with, const char* file) {
  std::ifstream rows(file);
  std::string row;
  if (!std::getline(rows, row)) fail(file, result::not_found);
  contents all(with);
  std::uint64_t count = 0;
  while (std::getline(rows, row)) {
    char op = 0;
    unsigned long long id = 0;
    unsigned long long bytes = 0;
    const std::size_t comma = row.find(',');
    if (std::sscanf(row.c_str() + comma, ",%c,%llu,%llu", &op, &id, &bytes) != 3)
      fail(row.c_str(), result::invalid_value);
    op == 'a' ? all.allocate(id, bytes) : all.free(id);
    ++count;
  }
  all.free_all();
  std::printf("%llu rows\n", static_cast<unsigned long long>(count));
  all.print();
}

/// A decoder's buffers: some of one size, two that are longer at each step.
void grow(const driver& with) {
  contents all(with);
  for (std::uint64_t step = 0; step < 300; ++step) {
    const std::uint64_t first = step * 20;
    for (std::uint64_t i = 0; i < 10; ++i) all.allocate(first + i, 8192);
    all.allocate(first + 10, 4096 * (step + 1));
    all.allocate(first + 11, 128 * (step + 1));
    for (std::uint64_t i = 0; i < 10; ++i) all.free(first + i);
    all.free(first + 11);
    if (step != 0) all.free(first - 20 + 10);
  }
  all.free_all();
  all.print();
}

/// What another stream has copied is there after the free of a block that has nothing to do with it.
void second_stream(const driver& with) {
  stream_handle* const other = with.stream();
  for (int turn = 1; turn <= 3; ++turn) {
    const device_address source = with.lent(4096);
    const device_address bystander = with.lent(4096);
    unsigned char found = 0;
    need(with.set(source, static_cast<unsigned char>(40 + turn), 4096, other), "cuMemsetD8Async");
    need(with.copy_out(&found, source, 1, other), "cuMemcpyDtoHAsync");
    need(with.free(bystander), "cuMemFree");
    std::printf("%d\n", found);
    need(with.free(source), "cuMemFree");
  }
}

/// Memory in the order of streams: handed from one to another by an event, and freed there.
void async(const driver& with) {
  stream_handle* const first = with.stream();
  stream_handle* second = with.stream();
  event_handle* point = nullptr;
  need(with.create_event(&point, 2), "cuEventCreate");
  unsigned int sum = 0;
  for (unsigned int turn = 0; turn < 200; ++turn) {
    device_address address = 0;
    unsigned char found[2] = {};
    need(with.allocate_async(&address, 65536, first), "cuMemAllocAsync");
    need(with.set(address, static_cast<unsigned char>(turn), 65536, first), "cuMemsetD8Async");
    need(with.record(point, first), "cuEventRecord");
    need(with.wait_for(second, point, 0), "cuStreamWaitEvent");
    need(with.copy_out(&found[0], address, 1, second), "cuMemcpyDtoHAsync");
    need(with.copy_out(&found[1], address + 65535, 1, second), "cuMemcpyDtoHAsync");
    need(with.free_async(address, second), "cuMemFreeAsync");
    need(with.wait(second), "cuStreamSynchronize");
    sum = sum * 31 + found[0] + 7U * found[1];
    if (turn % 50 == 49) {
      need(with.destroy_stream(second), "cuStreamDestroy");
      second = with.stream();
    }
  }
  // Each kind is freed as the other, too.
  device_address address = 0;
  need(with.allocate_async(&address, 4096, first), "cuMemAllocAsync");
  need(with.wait(first), "cuStreamSynchronize");
  need(with.free(address), "cuMemFree");
  need(with.free_async(with.lent(4096), first), "cuMemFreeAsync");
  need(with.wait(first), "cuStreamSynchronize");
  std::printf("sum %u\n", sum);
}

void say(const char* what, result answer) { std::printf("%s: %u\n", what, static_cast<unsigned int>(answer)); }

/// What the driver refuses is refused.
void mistakes(const driver& with) {
  device_address address = 0;
  say("nothing", with.allocate(&address, 0));
  say("too much", with.allocate(&address, std::size_t{1} << 46));
  const device_address first = with.lent(1 << 20);
  const device_address second = with.lent(1 << 20);
  say("null", with.free(0));
  say("the middle", with.free(first + 512));
  say("first", with.free(first));
  say("first again", with.free(first));
  say("second", with.free(second));
  say("second again, in its turn", with.free_async(second, with.stream()));
  const device_address third = with.lent(3 << 20);
  device_address base = 0;
  std::size_t bytes = 0;
  say("range", with.range(&base, &bytes, third + 1234));
  std::printf("%d %zu\n", base == third ? 1 : 0, bytes);
  say("third", with.free(third));
  std::size_t free_bytes = 0;
  std::size_t total = 0;
  need(with.info(&free_bytes, &total), "cuMemGetInfo");
  std::printf("free in all: %d\n", free_bytes == total ? 1 : 0);
}

/// A free in a capture is refused, and leaves the block as it was; a graph's own memory is the driver's.
void capture(const driver& with) {
  stream_handle* const on = with.stream();
  const device_address before = with.lent(4096);
  need(with.begin_capture(on, arcalloc::cuda::capture_mode::global), "cuStreamBeginCapture");
  device_address address = 0;
  say("of the graph", with.allocate_async(&address, 4096, on));
  say("free", with.free(before));
  arcalloc::fake_cuda::graph_handle* graph = nullptr;
  say("end", with.end_capture(on, &graph));
  say("free after it", with.free(before));
}

/// Contexts come and go, and what was in them is gone with them.
void contexts(const driver& with) {
  for (int turn = 0; turn < 70; ++turn) {
    context_handle* made = nullptr;
    need(with.create_context(&made, 0, 0), "cuCtxCreate");
    const device_address kept = with.lent(1 << 20);
    need(with.free(with.lent(5 << 20)), "cuMemFree");
    need(with.destroy_context(made), "cuCtxDestroy");
    need(with.make_current(with.primary), "cuCtxSetCurrent");
    if (turn == 69) say("of a context that is gone", with.free(kept));
  }
  need(with.free(with.lent(1 << 20)), "cuMemFree");
  need(with.leave(0), "cuDevicePrimaryCtxRelease");
  need(with.retain(const_cast<context_handle**>(&with.primary), 0), "cuDevicePrimaryCtxRetain");
  need(with.free(with.lent(1 << 20)), "cuMemFree");
}

void threads(const driver& with) {
  std::vector<std::thread> all;
  std::vector<int> wrong(4);
  for (std::size_t t = 0; t < wrong.size(); ++t) {
    all.emplace_back([&with, &wrong, t] {
      need(with.make_current(with.primary), "cuCtxSetCurrent");
      stream_handle* const on = with.stream();
      for (std::size_t i = 0; i < 300; ++i) {
        const std::size_t bytes = 512 + (i * 7919 + t * 104729) % 100000;
        const device_address address = with.lent(bytes);
        unsigned char found = 0;
        need(with.set(address, static_cast<unsigned char>(t + 1), bytes, on), "cuMemsetD8Async");
        need(with.copy_out(&found, address + bytes - 1, 1, on), "cuMemcpyDtoHAsync");
        need(with.free(address), "cuMemFree");
        if (found != t + 1) ++wrong[t];
      }
    });
  }
  for (std::thread& one : all) one.join();
  for (const int count : wrong) std::printf("%d wrong\n", count);
}

void tell(const driver& with) {
  const auto count = [&](const char* function) { return static_cast<unsigned long long>(with.fake->calls(function)); };
  arcalloc::sim_backend& device = with.fake->device(0);
  std::fprintf(stderr, "driver: allocs %llu\ndriver: frees %llu\ndriver: async %llu\n", count("cuMemAlloc"),
               count("cuMemFree"), count("cuMemAllocAsync") + count("cuMemFreeAsync"));
  std::fprintf(stderr, "driver: lent_bytes %llu\ndriver: lent_bytes_peak %llu\n",
               static_cast<unsigned long long>(device.lent_bytes()),
               static_cast<unsigned long long>(device.lent_bytes_peak()));
  for (const std::string& one : with.fake->convictions(0)) std::fprintf(stderr, "convicted: %s\n", one.c_str());
}

}  // namespace

int main(int count, char** words) {
  if (count < 3) return 2;
  const std::string what = words[2];
  if (what == "without") {  // a driver: nobody has loaded one
    std::printf("%d\n", ::dlsym(RTLD_DEFAULT, "cuMemAlloc_v2") == nullptr ? 1 : 0);
    return 0;
  }
  const driver with(words[1]);
  if (what == "replay" && count == 4) replay(with, words[3]);
  if (what == "grow") grow(with);
  if (what == "second_stream") second_stream(with);
  if (what == "async") async(with);
  if (what == "mistakes") mistakes(with);
  if (what == "capture") capture(with);
  if (what == "contexts") contexts(with);
  if (what == "threads") threads(with);
  tell(with);
  return 0;
}
