// SPDX-License-Identifier: Apache-2.0
#include "peer_list.hpp"

namespace arcalloc::bench {

std::span<const peer> peers() {
  static constexpr peer all[] = {
      {"null", "the loop with two empty calls", false, false, make_null},
      {"arcalloc", "freed by handle", true, true, make_arcalloc_by_handle},
      {"arcalloc-pointer", "freed by pointer", true, true, make_arcalloc_by_pointer},
      {"arcalloc-c", "the C interface, freed by handle", true, true, make_arcalloc_c_by_handle},
      {"arcalloc-c-pointer", "the C interface, freed by pointer", true, true, make_arcalloc_c_by_pointer},
      {"malloc", "the process's malloc", false, false, make_malloc},
      {"pmr", "std::pmr::synchronized_pool_resource, blocks to 4 MiB", false, false, make_pmr},
  };
  return all;
}

}  // namespace arcalloc::bench
