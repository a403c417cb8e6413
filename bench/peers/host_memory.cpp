// SPDX-License-Identifier: Apache-2.0
// Allocators of host memory: the process's malloc, which is glibc's unless another one is preloaded, and the standard
// library's pools. The blocks are never touched.
#include <cstdlib>
#include <memory_resource>

#include "../driven.hpp"
#include "peer_list.hpp"

namespace arcalloc::bench {

namespace {

struct malloc_calls {
  using piece = void*;

  bool allocate(std::size_t bytes, std::uint64_t, piece& out) {
    out = std::malloc(bytes);
    return out != nullptr;
  }
  bool deallocate(piece& out) {
    std::free(out);
    return true;
  }
};

class pmr_calls {
 public:
  /// A free has to name the size.
  struct piece {
    void* address = nullptr;
    std::size_t bytes = 0;
  };

  bool allocate(std::size_t bytes, std::uint64_t, piece& out) {
    out = {pools_.allocate(bytes), bytes};
    return true;
  }
  bool deallocate(piece& out) {
    pools_.deallocate(out.address, out.bytes);
    return true;
  }

 private:
  std::pmr::synchronized_pool_resource pools_{
      std::pmr::pool_options{.max_blocks_per_chunk = 0, .largest_required_pool_block = std::size_t{4} << 20}};
};

}  // namespace

std::unique_ptr<subject> make_malloc(fake_driver&, std::uint64_t) { return std::make_unique<driven<malloc_calls>>(); }

std::unique_ptr<subject> make_pmr(fake_driver&, std::uint64_t) { return std::make_unique<driven<pmr_calls>>(); }

}  // namespace arcalloc::bench
