// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace arcalloc::trace {

/// How the text formats write numbers. Strict: the whole text or nothing, so that "4Gi" is never 4.

/// Decimal digits without a leading zero and nothing around them; at most `most`.
[[nodiscard]] std::optional<std::uint64_t> count_from(std::string_view text, std::uint64_t most);

/// A count, then nothing, `KiB`, `MiB` or `GiB`; what does not fit in 64 bits is refused. Bytes.
[[nodiscard]] std::optional<std::uint64_t> size_from(std::string_view text);

}  // namespace arcalloc::trace
