// SPDX-License-Identifier: Apache-2.0
// The C ABI's streams that end, capture windows, graphs and profiles: checks what the type system
// checks in C++, and passes on.
#include <arcalloc/arcalloc.h>
#include <algorithm>
#include <arcalloc/allocator.hpp>
#include <cstdio>
#include <cstdlib>

#include "c_objects.hpp"
#include "c_options.hpp"
#include "c_struct.hpp"

using arcalloc::graph_id;
using arcalloc::profile;
using arcalloc::profile_error;
using arcalloc::status;
using arcalloc::stream;
using arcalloc::detail::as_c;

static_assert(ARCALLOC_PER_THREAD_STREAM == static_cast<arcalloc_stream>(arcalloc::per_thread_stream));

namespace {

/// Calls `then` with the allocator, where there is one.
template <class Self, class Call>
arcalloc_status with(Self* self, Call then) noexcept {
  return self != nullptr ? as_c(then(*self->core)) : ARCALLOC_INVALID_ARGUMENT;
}

profile* core_of(arcalloc_profile* from) noexcept { return from != nullptr ? &from->core : nullptr; }

void tell(const profile_error& why, char* text, std::size_t capacity) noexcept {
  if (text != nullptr && capacity > 0) std::snprintf(text, capacity, "%s", why.text);
}

}  // namespace

extern "C" {

arcalloc_status arcalloc_end_stream(arcalloc_allocator* self, arcalloc_stream on) noexcept {
  return with(self, [on](auto& core) { return core.end_stream(stream{on}); });
}

arcalloc_stream arcalloc_this_thread_stream(void) noexcept {
  return static_cast<arcalloc_stream>(arcalloc::this_thread_stream());
}

arcalloc_status arcalloc_begin_capture(arcalloc_allocator* self, arcalloc_stream on,
                                       const arcalloc_capture_options* options) noexcept {
  arcalloc_capture_options given{};
  arcalloc::capture_options how;
  if ((options != nullptr && !arcalloc::detail::read_struct(options, given)) ||
      !arcalloc::detail::read_policy(given.policy, how.policy)) {
    return ARCALLOC_INVALID_ARGUMENT;
  }
  how.group = arcalloc::pool_group{given.pool_group};
  return with(self, [&](auto& core) { return core.begin_capture(stream{on}, how); });
}

arcalloc_status arcalloc_join_capture(arcalloc_allocator* self, arcalloc_stream joining,
                                      arcalloc_stream capturing) noexcept {
  return with(self, [&](auto& core) { return core.join_capture(stream{joining}, stream{capturing}); });
}

arcalloc_status arcalloc_end_capture(arcalloc_allocator* self, arcalloc_stream on, arcalloc_graph* out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  graph_id made = graph_id::none;
  const arcalloc_status outcome = with(self, [&](auto& core) { return core.end_capture(stream{on}, made); });
  *out = static_cast<arcalloc_graph>(made);
  return outcome;
}

arcalloc_status arcalloc_abort_capture(arcalloc_allocator* self, arcalloc_stream on) noexcept {
  return with(self, [on](auto& core) { return core.abort_capture(stream{on}); });
}

arcalloc_status arcalloc_note_replay(arcalloc_allocator* self, arcalloc_graph graph, arcalloc_stream on) noexcept {
  return with(self, [&](auto& core) { return core.note_replay(graph_id{graph}, stream{on}); });
}

arcalloc_status arcalloc_release_graph(arcalloc_allocator* self, arcalloc_graph graph) noexcept {
  return with(self, [graph](auto& core) { return core.release_graph(graph_id{graph}); });
}

arcalloc_status arcalloc_is_capturing(const arcalloc_allocator* self, arcalloc_stream on, std::int32_t* out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = 0;
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = self->core->is_capturing(stream{on}) ? 1 : 0;
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_read_capture_misses(const arcalloc_allocator* self, arcalloc_capture_miss* out,
                                             std::size_t capacity, std::size_t* count) noexcept {
  if (count == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *count = 0;
  if (self == nullptr || (out == nullptr && capacity != 0)) return ARCALLOC_INVALID_ARGUMENT;
  using record = arcalloc::capture_miss_record;
  const std::size_t room = std::min(capacity, self->core->read_capture_misses(nullptr, 0));
  auto* const found = static_cast<record*>(room == 0 ? nullptr : std::calloc(room, sizeof(record)));
  if (room != 0 && found == nullptr) return ARCALLOC_BACKEND_FAILED;
  *count = self->core->read_capture_misses(found, room);
  for (std::size_t i = 0; i < room; ++i) {
    const record& miss = found[i];
    out[i] = {miss.requested_bytes, miss.class_bytes, static_cast<arcalloc_stream>(miss.on), miss.count};
  }
  std::free(found);
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_profile_create(arcalloc_profile** out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = arcalloc::detail::make<arcalloc_profile>();
  return *out != nullptr ? ARCALLOC_OK : ARCALLOC_BACKEND_FAILED;
}

void arcalloc_profile_destroy(arcalloc_profile* self) noexcept {
  if (self != nullptr) arcalloc::detail::unmake(self);
}

arcalloc_status arcalloc_profile_add(arcalloc_profile* self, const arcalloc_profile_entry* entry) noexcept {
  if (self == nullptr || entry == nullptr || entry->bytes == 0 || entry->blocks == 0) return ARCALLOC_INVALID_ARGUMENT;
  if (entry->bytes > arcalloc::request_bytes_max) return ARCALLOC_REQUEST_TOO_LARGE;
  const bool added = self->core.add({stream{entry->stream}, entry->bytes, entry->blocks});
  return added ? ARCALLOC_OK : ARCALLOC_BACKEND_FAILED;
}

arcalloc_status arcalloc_profile_entries(const arcalloc_profile* self, arcalloc_profile_entry* out,
                                         std::size_t capacity, std::size_t* count) noexcept {
  if (count == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *count = 0;
  if (self == nullptr || (out == nullptr && capacity != 0)) return ARCALLOC_INVALID_ARGUMENT;
  const auto entries = self->core.entries();
  for (std::size_t i = 0; i < std::min(capacity, entries.size()); ++i) {
    out[i] = {static_cast<arcalloc_stream>(entries[i].on), entries[i].bytes, entries[i].blocks};
  }
  *count = entries.size();
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_profile_rename_stream(arcalloc_profile* self, arcalloc_stream from,
                                               arcalloc_stream to) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  self->core.rename_stream(stream{from}, stream{to});
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_profile_read(arcalloc_profile* self, const char* path, char* text,
                                      std::size_t capacity) noexcept {
  if (self == nullptr || path == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  profile_error why;
  const status outcome = arcalloc::read_profile(path, self->core, why);
  tell(why, text, capacity);
  return as_c(outcome);
}

arcalloc_status arcalloc_profile_write(const arcalloc_profile* self, const char* path, char* text,
                                       std::size_t capacity) noexcept {
  if (self == nullptr || path == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  profile_error why;
  const status outcome = arcalloc::write_profile(path, self->core, why);
  tell(why, text, capacity);
  return as_c(outcome);
}

arcalloc_status arcalloc_begin_profile(arcalloc_allocator* self) noexcept {
  return with(self, [](auto& core) { return core.begin_profile(); });
}

arcalloc_status arcalloc_end_profile(arcalloc_allocator* self, arcalloc_profile* out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  return with(self, [out](auto& core) { return core.end_profile(out->core); });
}

arcalloc_status arcalloc_prewarm(arcalloc_allocator* self, const arcalloc_profile* wanted,
                                 arcalloc_profile* missing) noexcept {
  if (wanted == nullptr || wanted == missing) return ARCALLOC_INVALID_ARGUMENT;
  return with(self, [&](auto& core) { return core.prewarm(wanted->core, core_of(missing)); });
}

arcalloc_status arcalloc_verify(const arcalloc_allocator* self, const arcalloc_profile* wanted,
                                arcalloc_profile* missing) noexcept {
  if (wanted == nullptr || wanted == missing) return ARCALLOC_INVALID_ARGUMENT;
  return with(self, [&](auto& core) { return core.verify(wanted->core, core_of(missing)); });
}

}  // extern "C"
