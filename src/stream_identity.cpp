// SPDX-License-Identifier: Apache-2.0
#include "stream_identity.hpp"

#include <atomic>

namespace arcalloc {

namespace {

constinit std::atomic<std::uint64_t> last_number{0};
thread_local constinit std::uint64_t number_of_thread = 0;

stream as_stream(std::uint64_t number) noexcept { return stream{detail::own_stream_bit | number}; }

}  // namespace

stream this_thread_stream() noexcept {
  if (number_of_thread == 0) number_of_thread = last_number.fetch_add(1, std::memory_order_relaxed) + 1;
  return as_stream(number_of_thread);
}

stream detail::known_thread_stream() noexcept {
  return number_of_thread == 0 ? default_stream : as_stream(number_of_thread);
}

}  // namespace arcalloc
