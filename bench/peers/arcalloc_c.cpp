// SPDX-License-Identifier: Apache-2.0
// arcalloc through its C interface: the same device, told to it as a caller's functions.
#include <arcalloc/arcalloc.h>
#include <stdexcept>

#include "../driven.hpp"
#include "peer_list.hpp"

namespace arcalloc::bench {

namespace {

fake_driver& driver_of(void* context) { return *static_cast<fake_driver*>(context); }

arcalloc_status lend(void* context, size_t bytes, arcalloc_stream, void** address) {
  *address = driver_of(context).lend(bytes);
  return *address != nullptr ? ARCALLOC_OK : ARCALLOC_DEVICE_OUT_OF_MEMORY;
}

arcalloc_status take_back(void* context, void* address, size_t) {
  driver_of(context).take_back(address);
  return ARCALLOC_OK;
}

arcalloc_status query_memory(void* context, uint64_t* free_bytes, uint64_t* total_bytes) {
  *total_bytes = driver_of(context).device_bytes();
  *free_bytes = *total_bytes - driver_of(context).read().held_bytes;
  return ARCALLOC_OK;
}

arcalloc_status record_event(void* context, arcalloc_stream, uint64_t* event) {
  driver_of(context).note_event();
  *event = 1;
  return ARCALLOC_OK;
}

arcalloc_status query_event(void*, uint64_t, int32_t* finished) {
  *finished = 1;
  return ARCALLOC_OK;
}

arcalloc_status wait_event(void*, uint64_t) { return ARCALLOC_OK; }
void drop_event(void*, uint64_t) {}

class c_memory {
 public:
  c_memory(fake_driver& driver, std::uint64_t bound_bytes) {
    arcalloc_backend functions{};
    functions.size = sizeof functions;
    functions.granularity = fake_backend::granule_bytes;
    functions.name = "fake";
    functions.context = &driver;
    functions.allocate = lend;
    functions.free = take_back;
    functions.query_memory = query_memory;
    functions.record_event = record_event;
    functions.query_event = query_event;
    functions.wait_event = wait_event;
    functions.drop_event = drop_event;
    functions.allocate_beside_capture = lend;
    arcalloc_options settings{};
    settings.size = sizeof settings;
    settings.capacity_bytes = bound_bytes;
    if (arcalloc_device_create(&functions, &device_) != ARCALLOC_OK ||
        arcalloc_create(device_, &settings, &memory_) != ARCALLOC_OK) {
      throw std::runtime_error("no allocator");
    }
  }
  ~c_memory() {
    arcalloc_destroy(memory_);
    (void)arcalloc_device_destroy(device_);
  }
  c_memory(const c_memory&) = delete;
  c_memory& operator=(const c_memory&) = delete;

  [[nodiscard]] arcalloc_allocator* get() noexcept { return memory_; }

 private:
  arcalloc_device* device_ = nullptr;
  arcalloc_allocator* memory_ = nullptr;
};

class c_by_handle {
 public:
  using piece = arcalloc_block;

  c_by_handle(fake_driver& driver, std::uint64_t bound_bytes) : memory_(driver, bound_bytes) {}
  bool allocate(std::size_t bytes, std::uint64_t on, piece& out) {
    return arcalloc_allocate(memory_.get(), bytes, on, &out) == ARCALLOC_OK;
  }
  bool deallocate(piece& out) { return arcalloc_deallocate(memory_.get(), out) == ARCALLOC_OK; }

 private:
  c_memory memory_;
};

class c_by_pointer {
 public:
  using piece = void*;

  c_by_pointer(fake_driver& driver, std::uint64_t bound_bytes) : memory_(driver, bound_bytes) {}
  bool allocate(std::size_t bytes, std::uint64_t on, piece& out) {
    arcalloc_block made;
    const bool done = arcalloc_allocate(memory_.get(), bytes, on, &made) == ARCALLOC_OK;
    out = made.address;
    return done;
  }
  bool deallocate(piece& out) { return arcalloc_deallocate_address(memory_.get(), out) == ARCALLOC_OK; }

 private:
  c_memory memory_;
};

}  // namespace

std::unique_ptr<subject> make_arcalloc_c_by_handle(fake_driver& driver, std::uint64_t bound_bytes) {
  return std::make_unique<driven<c_by_handle>>(driver, bound_bytes);
}

std::unique_ptr<subject> make_arcalloc_c_by_pointer(fake_driver& driver, std::uint64_t bound_bytes) {
  return std::make_unique<driven<c_by_pointer>>(driver, bound_bytes);
}

}  // namespace arcalloc::bench
