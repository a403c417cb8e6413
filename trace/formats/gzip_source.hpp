// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include "trace/formats/byte_source.hpp"

namespace arcalloc::trace {

/// How many times larger than the packed bytes the unpacked may be, and from what size on that is looked at. Deflate
/// reaches 1,032 at most, on bytes that are all the same; traces as text come to 10 to 60.
inline constexpr std::uint64_t unpacked_ratio_max = 400;
inline constexpr std::uint64_t unpacked_bytes_free = std::uint64_t{64} << 20;

/// What a gzip file unpacks to, as it is read; several gzip members in a row are one text. Offsets count unpacked
/// bytes. What is cut short, damaged, or unpacks to more than the above allows is refused. Cost: zlib's 44 KiB.
[[nodiscard]] std::unique_ptr<byte_source> unpacked(std::unique_ptr<byte_source> packed);

}  // namespace arcalloc::trace
