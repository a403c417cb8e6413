// SPDX-License-Identifier: Apache-2.0
#include "work_queue.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace arcalloc::fake_cuda {

namespace {

// What of fresh memory is marked as undefined: enough to be seen, and large blocks stay untouched pages.
constexpr std::size_t marked_bytes_most = 4096;
constexpr int undefined_byte = 0xDB;

}  // namespace

void device_bytes::lend(cuda::device_address begin, std::size_t bytes) {
  range fresh;
  fresh.bytes.reset(static_cast<unsigned char*>(std::calloc(bytes, 1)));
  fresh.size = bytes;
  if (fresh.bytes != nullptr) std::memset(fresh.bytes.get(), undefined_byte, std::min(bytes, marked_bytes_most));
  ranges_[begin] = std::move(fresh);
}

unsigned char* device_bytes::find(cuda::device_address begin, std::size_t bytes) {
  const auto after = ranges_.upper_bound(begin);
  if (after == ranges_.begin()) return nullptr;
  const auto& [base, around] = *std::prev(after);
  const std::size_t offset = begin - base;
  if (offset > around.size || bytes > around.size - offset || around.bytes == nullptr) return nullptr;
  return around.bytes.get() + offset;
}

bool device_bytes::carry_out(const work_item& item) {
  using what = work_item::what;
  unsigned char* const to =
      item.is == what::to_host ? static_cast<unsigned char*>(item.host) : find(item.to, item.bytes);
  const unsigned char* from = nullptr;
  if (item.is == what::copy || item.is == what::to_host) from = find(item.from, item.bytes);
  if (item.is == what::to_device)
    from = item.staged.empty() ? static_cast<unsigned char*>(item.host) : item.staged.data();
  if (to == nullptr || (item.is != what::set && from == nullptr)) return false;
  if (item.is == what::set) {
    std::memset(to, item.value, item.bytes);
  } else {
    std::memmove(to, from, item.bytes);
  }
  return true;
}

}  // namespace arcalloc::fake_cuda
