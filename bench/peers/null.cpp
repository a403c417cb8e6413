// SPDX-License-Identifier: Apache-2.0
// The baseline: the loop alone.
#include "../driven.hpp"
#include "empty_calls.hpp"
#include "peer_list.hpp"

namespace arcalloc::bench {

namespace {

struct null_calls {
  using piece = void*;

  bool allocate(std::size_t bytes, std::uint64_t on, piece& out) { return empty_allocate(self, bytes, on, &out) == 0; }
  bool deallocate(piece& out) { return empty_deallocate(self, &out) == 0; }

  void* self = nullptr;
};

}  // namespace

std::unique_ptr<subject> make_null(fake_driver&, std::uint64_t) { return std::make_unique<driven<null_calls>>(); }

}  // namespace arcalloc::bench
