// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/profile.hpp>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "plan.hpp"

namespace arcalloc::testing {

/// The profiles of an engine: what was asked for while one was recorded, held against what the allocator says of it;
/// and what a verified one promises.
///
/// A promise begins where verify says ok with no window open. It is that of a window on one stream which asks for no
/// more than was recorded there: all of it hits. Whatever else is done in between voids it. Classes share segments, and
/// how well they fit in follows from their order: a profile of several promises for the order of its entries, before
/// anything is freed.
/// Concurrency: none; whoever plays. Cost: the requests recorded.
class engine_profiles {
 public:
  [[nodiscard]] std::optional<std::uint32_t> recording() const { return recording_; }
  void begin(std::uint32_t number);
  void note_out(std::uint32_t block, stream on, std::uint64_t bytes);
  void note_back(std::uint32_t block);
  /// What is recorded cannot be told from the requests alone: the cache was off, or a stream ended.
  void blur() { blurred_ = true; }
  /// Says what is wrong with the profile.
  [[nodiscard]] std::string end(profile& said);

  [[nodiscard]] const profile* find(std::uint32_t number) const;

  /// Until anything else is done, the profile verifies.
  void prewarmed(std::uint32_t number) { prewarmed_ = number; }
  [[nodiscard]] bool must_verify(std::uint32_t number) const { return prewarmed_ == number; }
  void forget_prewarmed() { prewarmed_.reset(); }

  void verified(std::uint32_t number);
  void void_promise() { promised_.reset(); }
  [[nodiscard]] bool promised() const { return promised_.has_value(); }
  /// The window that was promised for, or none.
  void opened(stream on);
  /// Whether the request must hit; one that goes beyond the profile voids the promise.
  [[nodiscard]] bool must_hit(std::uint32_t block, stream on, std::uint64_t bytes);
  /// The block is back on its own stream.
  void freed(std::uint32_t block);

 private:
  struct change {
    stream on = default_stream;
    std::uint64_t bytes = 0;
    int by = 0;
  };
  struct recorded_profile {
    profile said;
    std::set<std::pair<stream, std::uint64_t>> asked;  ///< stream and bytes; empty where it promises nothing
  };
  using class_on = std::pair<stream, std::uint64_t>;  ///< a stream, and bytes: of a class, or requested

  /// The entry that counts such a request: classes are disjoint, and the least that is large enough is its own.
  [[nodiscard]] static const profile_entry* entry_of(const profile& in, stream on, std::uint64_t bytes);

  std::optional<std::uint32_t> recording_;
  std::vector<change> changes_;
  std::map<std::uint32_t, class_on> recorded_out_;  ///< requested while recording, by block: the stream and bytes
  bool blurred_ = false;
  std::map<std::uint32_t, recorded_profile> profiles_;

  std::optional<std::uint32_t> prewarmed_;
  std::optional<std::uint32_t> promised_;
  std::optional<stream> window_;
  const profile_entry* reached_ = nullptr;    ///< the entry that the last promised request was for
  std::map<class_on, std::uint64_t> out_;     ///< of the promise
  std::map<std::uint32_t, class_on> out_as_;  ///< by block
};

}  // namespace arcalloc::testing
