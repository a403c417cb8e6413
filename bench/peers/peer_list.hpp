// SPDX-License-Identifier: Apache-2.0
// What each file of peers/ offers.
#pragma once

#include "../peer.hpp"

namespace arcalloc::bench {

[[nodiscard]] std::unique_ptr<subject> make_null(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_arcalloc_by_handle(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_arcalloc_by_pointer(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_arcalloc_c_by_handle(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_arcalloc_c_by_pointer(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_malloc(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_pmr(fake_driver& driver, std::uint64_t bound_bytes);
[[nodiscard]] std::unique_ptr<subject> make_cub(fake_driver& driver, std::uint64_t bound_bytes);

}  // namespace arcalloc::bench
