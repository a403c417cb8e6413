// SPDX-License-Identifier: Apache-2.0
#include "peer_list.hpp"

namespace arcalloc::bench {

std::span<const peer> peers() {
  static constexpr peer all[] = {
      {"null", "the loop with two empty calls", false, bound::none, make_null},
      {"arcalloc", "freed by handle", true, bound::capacity, make_arcalloc_by_handle},
      {"arcalloc-pointer", "freed by pointer", true, bound::capacity, make_arcalloc_by_pointer},
      {"arcalloc-c", "the C interface, freed by handle", true, bound::capacity, make_arcalloc_c_by_handle},
      {"arcalloc-c-pointer", "the C interface, freed by pointer", true, bound::capacity, make_arcalloc_c_by_pointer},
#ifdef ARCALLOC_BENCH_CUB
      {"cub", "CUB's CachingDeviceAllocator over a faked runtime", true, bound::cached, make_cub},
#endif
      {"malloc", "the process's malloc", false, bound::none, make_malloc},
      {"pmr", "std::pmr::synchronized_pool_resource, blocks to 4 MiB", false, bound::none, make_pmr},
  };
  return all;
}

}  // namespace arcalloc::bench
