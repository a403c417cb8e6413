// SPDX-License-Identifier: Apache-2.0
#include "demand.hpp"

#include <algorithm>

namespace arcalloc::detail {

std::uint32_t demand::bucket_of(stream on, std::uint64_t class_bytes) noexcept {
  const std::uint64_t hash = (static_cast<std::uint64_t>(on) * 31 + class_bytes) * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(hash >> 32) % bucket_count;
}

demand::seen* demand::find(stream on, std::uint64_t class_bytes) noexcept {
  for (seen* at = buckets_[bucket_of(on, class_bytes)]; at != nullptr; at = at->next_in_bucket) {
    if (at->on == on && at->class_bytes == class_bytes) return at;
  }
  return nullptr;
}

void demand::start() noexcept {
  recording_ = true;
  complete_ = true;
}

bool demand::stop(profile& out) noexcept {
  recording_ = false;
  while (seen* const at = first_) {
    first_ = at->next;
    complete_ = out.add({at->on, at->class_bytes, at->most}) && complete_;
    give_back(spare_, &seen::next, *at);
  }
  last_ = nullptr;
  while (moved* const at = moved_) {
    moved_ = at->next;
    give_back(spare_moved_, &moved::next, *at);
  }
  std::fill(buckets_, buckets_ + bucket_count, nullptr);
  return complete_;
}

bool demand::note_out(stream on, std::uint64_t class_bytes) noexcept {
  seen* at = find(on, class_bytes);
  if (at == nullptr) {
    at = take_spare(spare_, &seen::next, memory_);
    if (at == nullptr) {
      complete_ = false;
      return false;
    }
    at->on = on;
    at->class_bytes = class_bytes;
    seen*& bucket = buckets_[bucket_of(on, class_bytes)];
    at->next_in_bucket = bucket;
    bucket = at;
    (last_ != nullptr ? last_->next : first_) = at;
    last_ = at;
  }
  at->most = std::max(at->most, ++at->out);
  return true;
}

void demand::note_back(stream on, std::uint64_t class_bytes) noexcept {
  // A block whose stream has ended meanwhile is counted as out until the end: the count errs upwards.
  seen* const at = find(on, class_bytes);
  if (at != nullptr && at->out > 0) --at->out;
}

void demand::note_moved(const void* address, stream on) noexcept {
  moved* const fresh = take_spare(spare_moved_, &moved::next, memory_);
  if (fresh == nullptr) {
    complete_ = false;
    return;
  }
  *fresh = {address, on, moved_};
  moved_ = fresh;
}

stream demand::noted_on(const void* address, stream own) noexcept {
  for (moved** at = &moved_; *at != nullptr; at = &(*at)->next) {
    if ((*at)->address != address) continue;
    moved& found = **at;
    const stream on = found.on;
    *at = found.next;
    give_back(spare_moved_, &moved::next, found);
    return on;
  }
  return own;
}

}  // namespace arcalloc::detail
