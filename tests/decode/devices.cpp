// SPDX-License-Identifier: Apache-2.0
#include "devices.hpp"

#include <gtest/gtest.h>

namespace arcalloc::decode {

status refusing_backend::allocate(std::size_t bytes, stream on, void*& address) noexcept {
  if (++asked_ >= refuse_from_) return status::device_out_of_memory;
  return altered_host::allocate(bytes, on, address);
}

allocator_ptr make_allocator(backend& device, const options& settings) {
  allocator* made = nullptr;
  EXPECT_EQ(allocator::create(device, settings, made), status::ok);
  return allocator_ptr{made};
}

counters counters_of(const allocator& memory) {
  counters now{};
  memory.read_counters(now);
  return now;
}

options options_off() {
  options settings;
  settings.enabled = false;
  return settings;
}

options options_unbounded() {
  options settings;
  settings.classes = geometry::exact;
  settings.cached_bytes_max.mode = bound_mode::unbounded;
  settings.oom_retry = false;
  return settings;
}

}  // namespace arcalloc::decode
