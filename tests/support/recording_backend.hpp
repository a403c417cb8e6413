// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>

namespace arcalloc::testing {

/// A device of addresses alone: it lends ranges that nobody may touch, keeps its own account of them,
/// and fails on demand. It convicts foreign frees, wrong sizes and overlaps, and asserts the capacity
/// it was told at every instant. Any thread.
class recording_backend final : public backend {
 public:
  explicit recording_backend(std::uint64_t size_bytes, std::size_t granule = 512)
      : size_bytes_(size_bytes), granule_(granule) {}

  const char* name() const noexcept override { return "recording"; }
  std::size_t granularity() const noexcept override { return granule_; }

  status allocate(std::size_t bytes, stream, void*& address) noexcept override {
    if (before_allocate) before_allocate();
    const std::lock_guard guard(mutex_);
    ++allocate_calls;
    address = nullptr;
    if (bytes == 0 || bytes % granule_ != 0) ++convictions;
    if (const status planned = take_plan(fail_allocate); planned != status::ok) return planned;
    if (bytes > size_bytes_ - others_bytes - lent_bytes) return status::device_out_of_memory;
    lent_bytes += bytes;
    lent_bytes_peak = lent_bytes > lent_bytes_peak ? lent_bytes : lent_bytes_peak;
    next_ = (next_ + granule_ - 1) / granule_ * granule_;
    lent_[next_] = bytes;
    address = reinterpret_cast<void*>(next_);
    // Half the time ranges touch, half the time there is a gap: units of two segments may then share 2 MiB.
    next_ += bytes + (allocate_calls % 2 == 0 ? 5 * granule_ : 0);
    return status::ok;
  }

  status allocate_beside_capture(std::size_t bytes, stream on, void*& address) noexcept override {
    return allocate(bytes, on, address);
  }

  status free(void* address, std::size_t bytes) noexcept override {
    if (before_free) before_free();
    const std::lock_guard guard(mutex_);
    ++free_calls;
    if (const status planned = take_plan(fail_free); planned != status::ok) return planned;
    const auto found = lent_.find(reinterpret_cast<std::uint64_t>(address));
    if (found == lent_.end() || found->second != bytes) {
      ++convictions;
      return status::backend_failed;
    }
    lent_.erase(found);
    lent_bytes -= bytes;
    return status::ok;
  }

  status query_memory(memory_info& out) const noexcept override {
    if (before_query) before_query();
    const std::lock_guard guard(mutex_);
    ++queries;
    if (fail_query != status::ok) return fail_query;
    out.total_bytes = total_bytes != 0 ? total_bytes : size_bytes_;
    out.free_bytes = size_bytes_ - others_bytes - lent_bytes;
    return status::ok;
  }

  // Work is finished when it is asked for, as on the host.
  bool synchronous() const noexcept override { return true; }
  status record_event(stream, event&) noexcept override { return never_called(); }
  status query_event(event, bool&) noexcept override { return never_called(); }
  status wait_event(event) noexcept override { return never_called(); }
  void drop_event(event) noexcept override { ++convictions; }

  /// The n-th call from now (1: the next) answers `with`, once or from then on.
  struct plan {
    std::uint64_t nth = 0;
    bool persistent = false;
    status with = status::ok;
  };

  plan fail_allocate{};
  plan fail_free{};
  status fail_query = status::ok;
  std::uint64_t others_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::function<void()> before_allocate;  // called without the backend's lock
  std::function<void()> before_free;
  std::function<void()> before_query;

  std::uint64_t lent_bytes = 0;
  std::uint64_t lent_bytes_peak = 0;
  std::uint64_t allocate_calls = 0;
  std::uint64_t free_calls = 0;
  mutable std::uint64_t queries = 0;
  std::uint64_t convictions = 0;

 private:
  status never_called() noexcept {
    ++convictions;
    return status::backend_failed;
  }

  static status take_plan(plan& due) noexcept {
    if (due.nth == 0) return status::ok;
    if (due.nth > 1) {
      --due.nth;
      return status::ok;
    }
    if (!due.persistent) due.nth = 0;
    return due.with;
  }

  mutable std::mutex mutex_;
  std::uint64_t size_bytes_;
  std::size_t granule_;
  std::uint64_t next_ = std::uint64_t{1} << 32;
  std::map<std::uint64_t, std::uint64_t> lent_;
};

}  // namespace arcalloc::testing
