// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/arcalloc.h>
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace arcalloc::detail {

// Structs of the C ABI as they come from a caller built against another version: the fourth of the
// conventions in arcalloc.h. Bytes are copied, so that neither a short nor a misaligned struct is
// ever looked at as the whole one. Called by the C ABI alone; any thread; a copy is all it costs.

/// The size that a struct had when it was first published: no caller can have a shorter one.
template <class Struct>
inline constexpr std::size_t size_at_first = 0;
template <>
inline constexpr std::size_t size_at_first<arcalloc_counters> = 16;  // may be shortened at will
template <>
inline constexpr std::size_t size_at_first<arcalloc_options> = offsetof(arcalloc_options, sink_context) + sizeof(void*);
template <>
inline constexpr std::size_t size_at_first<arcalloc_backend> = offsetof(arcalloc_backend, drop_event) +
                                                               sizeof(arcalloc_backend::drop_event);
template <>
inline constexpr std::size_t size_at_first<arcalloc_cuda_options> = offsetof(arcalloc_cuda_options, driver_path) +
                                                                    sizeof(const char*);
template <>
inline constexpr std::size_t size_at_first<arcalloc_memory_info> = offsetof(arcalloc_memory_info, total_bytes) + 8;
template <>
inline constexpr std::size_t size_at_first<arcalloc_cap_arithmetic> = offsetof(arcalloc_cap_arithmetic, reserve_bytes) +
                                                                      8;
template <>
inline constexpr std::size_t size_at_first<arcalloc_failure> = offsetof(arcalloc_failure, largest_idle_bytes) + 8;
template <>
inline constexpr std::size_t size_at_first<arcalloc_segment_extent> = offsetof(arcalloc_segment_extent, offset_bytes) +
                                                                      8;
template <>
inline constexpr std::size_t size_at_first<arcalloc_build> = offsetof(arcalloc_build, build_type) + sizeof(const char*);

template <>
inline constexpr std::size_t size_at_first<arcalloc_recording_state> = offsetof(arcalloc_recording_state, lost) + 8;

template <>
inline constexpr std::size_t size_at_first<arcalloc_capture_options> = offsetof(arcalloc_capture_options, pool_group) +
                                                                       8;

/// The size that the caller's struct says it has; 0 where it is null or the size cannot be.
template <class Struct>
[[nodiscard]] std::size_t callers_size(const Struct* given) noexcept {
  static_assert(std::is_trivially_copyable_v<Struct> && offsetof(Struct, size) == 0 && size_at_first<Struct> >= 16);
  if (given == nullptr) return 0;
  std::uint32_t size = 0;
  std::memcpy(&size, given, sizeof size);
  if (size < size_at_first<Struct> || size > ARCALLOC_STRUCT_SIZE_MAX) return 0;
  if (std::is_same_v<Struct, arcalloc_counters> && size % sizeof(std::uint64_t) != 0) return 0;
  return size;
}

/// Copies what the caller's struct has; the fields that it lacks are zero. False, and nothing read, where its size
/// cannot be; false too where it says something that this version does not know.
template <class Struct>
[[nodiscard]] bool read_struct(const Struct* given, Struct& out) noexcept {
  const std::size_t size = callers_size(given);
  if (size == 0) return false;
  const auto* const bytes = reinterpret_cast<const unsigned char*>(given);
  for (std::size_t at = sizeof(Struct); at < size; ++at) {
    if (bytes[at] != 0) return false;
  }
  out = Struct{};
  std::memcpy(&out, given, std::min(size, sizeof(Struct)));
  return true;
}

/// Fills the caller's struct as far as it goes, and says in its size how far that was. False, and
/// nothing written, where its size cannot be.
template <class Struct>
[[nodiscard]] bool write_struct(Struct value, Struct* out) noexcept {
  const std::size_t size = callers_size(out);
  if (size == 0) return false;
  const std::size_t filled = std::min(size, sizeof(Struct));
  value.size = static_cast<std::uint32_t>(filled);
  auto* const bytes = reinterpret_cast<unsigned char*>(out);
  std::memcpy(bytes, &value, filled);
  std::memset(bytes + filled, 0, size - filled);
  return true;
}

}  // namespace arcalloc::detail
