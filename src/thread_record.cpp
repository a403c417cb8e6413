// SPDX-License-Identifier: Apache-2.0
#include "thread_record.hpp"

namespace arcalloc::detail {

constinit stream_cache no_cache;

namespace {

std::uint32_t bucket_of(stream on) noexcept {
  const std::uint64_t hash = static_cast<std::uint64_t>(on) * 0x9E3779B97F4A7C15U;
  return static_cast<std::uint32_t>(hash >> 32) % thread_record::bucket_count;
}

}  // namespace

stream_cache* thread_record::find_in_buckets(stream said) noexcept {
  const stream on = identity_of(said);
  for (stream_cache* at = buckets[bucket_of(on)]; at != nullptr; at = at->next_in_bucket) {
    if (at->on() != on) continue;
    recent_stream = said;
    recent_cache = at;
    return at;
  }
  return nullptr;
}

void thread_record::add(stream_cache& fresh) noexcept {
  stream_cache*& bucket = buckets[bucket_of(fresh.on())];
  fresh.next_in_bucket = bucket;
  bucket = &fresh;
  caches.push_back(&fresh);
}

}  // namespace arcalloc::detail
