// SPDX-License-Identifier: Apache-2.0
// The C ABI: checks what the type system checks in C++, and passes on. What is here must hold for any
// caller: a null, an unlisted value or a struct of the wrong size is an invalid_argument, never
// undefined behaviour. Its concurrency is that of the calls it passes on. Cost: a null check on the way
// of a hit. It rounds, caches and remembers nothing. Devices are in c_device.cpp, readings in
// c_readings.cpp, texts in c_text.cpp.
#include <arcalloc/arcalloc.h>
#include <arcalloc/allocator.hpp>
#include <arcalloc/settings.hpp>
#include <arcalloc/version.hpp>
#include <bit>

#include "c_objects.hpp"
#include "c_options.hpp"
#include "c_struct.hpp"
#include "hit_path.hpp"

using arcalloc::allocator;
using arcalloc::block;
using arcalloc::phase;
using arcalloc::status;
using arcalloc::stream;
using arcalloc::detail::as_c;

namespace {

constexpr bool same(arcalloc_status c, status cpp) { return c == static_cast<arcalloc_status>(cpp); }
static_assert(same(ARCALLOC_OK, status::ok) && same(ARCALLOC_INVALID_ARGUMENT, status::invalid_argument) &&
              same(ARCALLOC_REQUEST_TOO_LARGE, status::request_too_large) &&
              same(ARCALLOC_CAPACITY_EXCEEDED, status::capacity_exceeded) &&
              same(ARCALLOC_DEVICE_OUT_OF_MEMORY, status::device_out_of_memory) &&
              same(ARCALLOC_CAPTURE_MISS, status::capture_miss) &&
              same(ARCALLOC_UNKNOWN_POINTER, status::unknown_pointer) &&
              same(ARCALLOC_DOUBLE_FREE, status::double_free) &&
              same(ARCALLOC_BACKEND_UNAVAILABLE, status::backend_unavailable) &&
              same(ARCALLOC_BACKEND_FAILED, status::backend_failed) &&
              same(ARCALLOC_SHUTTING_DOWN, status::shutting_down) &&
              ARCALLOC_SHUTTING_DOWN + 1 == arcalloc::status_count);

constexpr bool same(arcalloc_phase c, phase cpp) { return c == static_cast<arcalloc_phase>(cpp); }
static_assert(same(ARCALLOC_PHASE_MIXED, phase::mixed) && same(ARCALLOC_PHASE_PREFILL, phase::prefill) &&
              same(ARCALLOC_PHASE_DECODE, phase::decode));

// A block is the same two words on both sides. Only the allocator knows what they mean.
static_assert(sizeof(block) == sizeof(arcalloc_block) && std::is_trivially_copyable_v<block>);

/// What to do with a caller's block before the allocator is asked.
enum class token { null, whole, torn };

token kind_of(const arcalloc_block& piece) noexcept {
  if (piece.address == nullptr && piece.record == nullptr) return token::null;
  return piece.address != nullptr && piece.record != nullptr ? token::whole : token::torn;
}

/// Calls `then` with the block in C++, where there is one to speak of.
template <class Call>
arcalloc_status with_block(const arcalloc_allocator* self, const arcalloc_block& piece, Call then) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  switch (kind_of(piece)) {
    case token::null:
      return ARCALLOC_OK;
    case token::torn:
      return ARCALLOC_UNKNOWN_POINTER;
    case token::whole:
      break;
  }
  return as_c(then(*self->core, std::bit_cast<block>(piece)));
}

arcalloc::detail::block_record& record_of(const arcalloc_block& piece) noexcept {
  return *static_cast<arcalloc::detail::block_record*>(piece.record);
}

void pass_on_line(void* context, const char* line) noexcept {
  const auto& self = *static_cast<const arcalloc_allocator*>(context);
  self.sink(self.sink_context, line);
}

void stand_in_sink(void*, const char*) noexcept {}

}  // namespace

extern "C" {

std::uint32_t arcalloc_abi_version(void) noexcept { return ARCALLOC_ABI_VERSION; }

arcalloc_status arcalloc_built_as(arcalloc_build* out) noexcept {
  const arcalloc::build_identity build = arcalloc::built_as();
  const arcalloc_build value{0,           ARCALLOC_ABI_VERSION, build.version,   build.commit,
                             build.dirty, build.compiler,       build.build_type};
  return arcalloc::detail::write_struct(value, out) ? ARCALLOC_OK : ARCALLOC_INVALID_ARGUMENT;
}

const char* arcalloc_status_name(arcalloc_status value) noexcept {
  return arcalloc::status_name(static_cast<status>(value));
}

const char* arcalloc_phase_name(arcalloc_phase value) noexcept {
  const bool listed = value >= ARCALLOC_PHASE_MIXED && value <= ARCALLOC_PHASE_DECODE;
  return listed ? arcalloc::phase_name(static_cast<phase>(value)) : "unknown_phase";
}

const char* arcalloc_geometry_name(arcalloc_geometry value) noexcept {
  const bool listed = value >= ARCALLOC_GEOMETRY_8 && value <= ARCALLOC_GEOMETRY_EXACT;
  return listed ? arcalloc::geometry_name(static_cast<arcalloc::geometry>(value)) : "unknown_geometry";
}

const char* arcalloc_cap_source_name(std::uint64_t value) noexcept {
  return value <= ARCALLOC_CAP_UNBOUNDED ? arcalloc::cap_source_name(value) : "unknown_cap_source";
}

arcalloc_status arcalloc_options_from_environment(arcalloc_options* options, arcalloc_diagnostic_sink sink,
                                                  void* sink_context) noexcept {
  arcalloc_options given;
  arcalloc::options settings;
  if (!arcalloc::detail::read_struct(options, given) || !arcalloc::detail::read_options(given, settings)) {
    return ARCALLOC_INVALID_ARGUMENT;
  }
  // So that the settings see that reports have somewhere to go.
  if (given.sink != nullptr) settings.sink.write = stand_in_sink;
  const arcalloc::settings_result found = arcalloc::settings_from_environment(settings);
  arcalloc::detail::write_options(settings, given);
  if (given.sink == nullptr && settings.sink.write != nullptr) {
    given.sink = settings.sink.write;
    given.sink_context = settings.sink.context;
  }
  if (!arcalloc::detail::write_struct(given, options)) return ARCALLOC_INVALID_ARGUMENT;
  for (std::size_t i = 0; sink != nullptr && i < found.refused; ++i) {
    sink(sink_context, ARCALLOC_SEVERITY_ERROR, found.errors[i].text);
  }
  for (std::size_t i = 0; sink != nullptr && i < found.warned; ++i) {
    sink(sink_context, ARCALLOC_SEVERITY_WARNING, found.warnings[i].text);
  }
  return as_c(found.outcome);
}

arcalloc_status arcalloc_create(arcalloc_device* device, const arcalloc_options* options,
                                arcalloc_allocator** out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = nullptr;
  arcalloc_options given{};
  arcalloc::options settings;
  if (device == nullptr || (options != nullptr && !arcalloc::detail::read_struct(options, given)) ||
      !arcalloc::detail::read_options(given, settings)) {
    return ARCALLOC_INVALID_ARGUMENT;
  }
  auto* const self = arcalloc::detail::make<arcalloc_allocator>();
  if (self == nullptr) return ARCALLOC_BACKEND_FAILED;
  self->device = device;
  self->sink = given.sink;
  self->sink_context = given.sink_context;
  if (given.sink != nullptr) settings.sink = {pass_on_line, self};
  const status outcome = allocator::create(*device->below, settings, self->core);
  if (outcome != status::ok) {
    arcalloc::detail::unmake(self);
    return as_c(outcome);
  }
  self->way = arcalloc::detail::door_of(*self->core);
  device->allocators.fetch_add(1, std::memory_order_relaxed);
  *out = self;
  return ARCALLOC_OK;
}

void arcalloc_destroy(arcalloc_allocator* self) noexcept {
  if (self == nullptr) return;
  arcalloc_device* const device = self->device;
  allocator::destroy(self->core);
  arcalloc::detail::unmake(self);
  // Pairs with the load in arcalloc_device_destroy: what the allocator did on the device is done.
  device->allocators.fetch_sub(1, std::memory_order_release);
}

arcalloc_device* arcalloc_device_of(const arcalloc_allocator* self) noexcept {
  return self != nullptr ? self->device : nullptr;
}

arcalloc_status arcalloc_allocate(arcalloc_allocator* self, std::size_t bytes, arcalloc_stream on,
                                  arcalloc_block* out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  if (self == nullptr) {
    *out = arcalloc_block{};
    return ARCALLOC_INVALID_ARGUMENT;
  }
  return as_c(arcalloc::detail::allocate(self->way, bytes, stream{on}, out->address, out->record));
}

arcalloc_status arcalloc_deallocate(arcalloc_allocator* self, arcalloc_block piece) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  if (piece.record == nullptr || piece.address == nullptr) {
    return piece.record == piece.address ? ARCALLOC_OK : ARCALLOC_UNKNOWN_POINTER;
  }
  return as_c(arcalloc::detail::free_by_handle(self->way, record_of(piece), piece.address,
                                               arcalloc::detail::blocks_own_stream));
}

arcalloc_status arcalloc_deallocate_address(arcalloc_allocator* self, void* address) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  return as_c(arcalloc::detail::free_by_address(self->way, address, arcalloc::detail::any_bytes,
                                                arcalloc::detail::blocks_own_stream));
}

arcalloc_status arcalloc_deallocate_address_sized(arcalloc_allocator* self, void* address, std::size_t bytes) noexcept {
  return self != nullptr ? as_c(self->core->deallocate(address, bytes)) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_deallocate_on(arcalloc_allocator* self, arcalloc_block piece, arcalloc_stream on) noexcept {
  return with_block(self, piece,
                    [on](allocator& core, const block& whole) { return core.deallocate(whole, stream{on}); });
}

arcalloc_status arcalloc_deallocate_address_on(arcalloc_allocator* self, void* address, arcalloc_stream on) noexcept {
  return self != nullptr ? as_c(self->core->deallocate(address, stream{on})) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_note_use(arcalloc_allocator* self, arcalloc_block piece, arcalloc_stream on) noexcept {
  return with_block(self, piece,
                    [on](allocator& core, const block& whole) { return core.note_use(whole, stream{on}); });
}

arcalloc_status arcalloc_note_use_address(arcalloc_allocator* self, void* address, arcalloc_stream on) noexcept {
  return self != nullptr ? as_c(self->core->note_use(address, stream{on})) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_begin_phase(arcalloc_allocator* self, arcalloc_phase next) noexcept {
  if (self == nullptr || next < ARCALLOC_PHASE_MIXED || next > ARCALLOC_PHASE_DECODE) return ARCALLOC_INVALID_ARGUMENT;
  return as_c(self->core->begin_phase(static_cast<phase>(next)));
}

arcalloc_status arcalloc_current_phase(const arcalloc_allocator* self, arcalloc_phase* out) noexcept {
  if (out == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = ARCALLOC_PHASE_MIXED;
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  *out = static_cast<arcalloc_phase>(self->core->current_phase());
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_end_step(arcalloc_allocator* self) noexcept {
  if (self == nullptr) return ARCALLOC_INVALID_ARGUMENT;
  self->core->end_step();
  return ARCALLOC_OK;
}

arcalloc_status arcalloc_trim(arcalloc_allocator* self, std::uint64_t cached_bytes_target) noexcept {
  return self != nullptr ? as_c(self->core->trim(cached_bytes_target)) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_drain(arcalloc_allocator* self) noexcept {
  return self != nullptr ? as_c(self->core->drain()) : ARCALLOC_INVALID_ARGUMENT;
}

arcalloc_status arcalloc_set_enabled(arcalloc_allocator* self, std::int32_t enabled) noexcept {
  if (self == nullptr || enabled < 0 || enabled > 1) return ARCALLOC_INVALID_ARGUMENT;
  return as_c(self->core->set_enabled(enabled == 1));
}

arcalloc_status arcalloc_set_cached_bytes_max(arcalloc_allocator* self, arcalloc_bound_mode mode,
                                              std::uint64_t bytes) noexcept {
  if (self == nullptr || mode < ARCALLOC_BOUND_DERIVED || mode > ARCALLOC_BOUND_UNBOUNDED) {
    return ARCALLOC_INVALID_ARGUMENT;
  }
  return as_c(self->core->set_cached_bytes_max({static_cast<arcalloc::bound_mode>(mode), bytes, false}));
}

arcalloc_status arcalloc_set_capacity_bytes(arcalloc_allocator* self, std::uint64_t bytes) noexcept {
  return self != nullptr ? as_c(self->core->set_capacity_bytes(bytes)) : ARCALLOC_INVALID_ARGUMENT;
}

}  // extern "C"
