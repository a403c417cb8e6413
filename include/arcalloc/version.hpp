// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace arcalloc {

/// What this library is, fixed when it was built.
struct build_identity {
  const char* version;     ///< "0.1.0"
  const char* commit;      ///< full hash, or "unknown" outside a checkout
  const char* dirty;       ///< "clean", "dirty" or "unknown"
  const char* compiler;    ///< name and version
  const char* build_type;  ///< such as "Release"
};

[[nodiscard]] build_identity built_as() noexcept;

}  // namespace arcalloc
