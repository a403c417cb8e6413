// SPDX-License-Identifier: Apache-2.0
// The C ABI's recordings: checks what the type system checks in C++, and passes on.
#include <arcalloc/arcalloc.h>
#include <arcalloc/allocator.hpp>

#include "c_objects.hpp"
#include "c_struct.hpp"

using arcalloc::detail::as_c;

extern "C" {

arcalloc_status arcalloc_begin_recording(arcalloc_allocator* self, const arcalloc_recording_sink* sink) noexcept {
  if (self == nullptr || sink == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  return as_c(self->core->begin_recording(*sink));
}

arcalloc_status arcalloc_record_to(arcalloc_allocator* self, const char* path) noexcept {
  return self != nullptr && path != nullptr ? as_c(self->core->record_to(path)) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_flush_recording(arcalloc_allocator* self) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  self->core->flush_recording();
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_end_recording(arcalloc_allocator* self) noexcept {
  return self != nullptr ? as_c(self->core->end_recording()) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_read_recording(const arcalloc_allocator* self, arcalloc_recording_state* out) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  return arcalloc::detail::write_struct(self->core->read_recording(), out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

}  // extern "C"
