// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <new>

#include <arcalloc/status.hpp>

namespace arcalloc {

/// What an adapter throws where its host wants an exception: a std::bad_alloc that knows why.
class refused : public std::bad_alloc {
 public:
  explicit refused(status outcome) noexcept : outcome_(outcome) {}
  [[nodiscard]] status outcome() const noexcept { return outcome_; }
  [[nodiscard]] const char* what() const noexcept override { return status_name(outcome_); }

 private:
  status outcome_;
};

/// For adapters whose host frees without an answer.
class free_refusals {
 public:
  /// ok, or why the last free that was refused was. The block was left as it was, and the allocator's counters have
  /// counted the refusal.
  [[nodiscard]] status last_refused_free() const noexcept { return last_.load(std::memory_order_relaxed); }

 protected:
  void note_free(status outcome) noexcept {
    if (outcome != status::ok) last_.store(outcome, std::memory_order_relaxed);
  }

 private:
  std::atomic<status> last_{status::ok};
};

}  // namespace arcalloc
