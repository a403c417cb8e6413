// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

namespace arcalloc::trace {

/// From `begin` up to, not including, `end`.
struct address_range {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend bool operator==(const address_range&, const address_range&) = default;
};

/// A set of addresses, as ranges that neither overlap nor touch.
///
/// Called where segments come and go. Concurrency: one thread. Cost: a search in a tree, and a step for every range
/// that a call joins or cuts.
class range_set {
 public:
  void add(address_range what);
  void remove(address_range what);
  /// The parts of `what` that are not in the set, in order.
  [[nodiscard]] std::vector<address_range> missing_of(address_range what) const;
  [[nodiscard]] bool covers(address_range what) const;
  [[nodiscard]] std::size_t size() const noexcept { return ranges_.size(); }
  [[nodiscard]] std::vector<address_range> all() const;

 private:
  std::map<std::uint64_t, std::uint64_t> ranges_;  ///< begin -> end
};

}  // namespace arcalloc::trace
