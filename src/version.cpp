// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/version.hpp>

#include "arcalloc_build_identity.h"

namespace arcalloc {

build_identity built_as() noexcept {
  return {ARCALLOC_BUILD_VERSION, ARCALLOC_BUILD_COMMIT, ARCALLOC_BUILD_DIRTY, ARCALLOC_BUILD_COMPILER,
          ARCALLOC_BUILD_TYPE};
}

}  // namespace arcalloc
