// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/backend.hpp>
#include <cstdint>
#include <cstdlib>
#include <mutex>
#include <new>

#include "driver_library.hpp"

namespace arcalloc::cuda {

/// The driver's events, made when there is none to use again.
///
/// Used by the cuda backend alone. An arcalloc event is the address of a node here, which lives until close.
/// Concurrency: any thread; a mutex around a list, and no driver call within. A dropped event may be unfinished:
/// cuEventRecord overwrites what it stood for.
/// Invariant: made = out + spare. It never waits.
class event_store {
 public:
  event_store() noexcept = default;
  ~event_store() {
    for (node* at = all_; at != nullptr;) {
      node* const next = at->older;
      at->~node();
      std::free(at);
      at = next;
    }
  }
  event_store(const event_store&) = delete;
  event_store& operator=(const event_store&) = delete;

  /// An event to record: `handle` is set. out_of_memory where the host has none.
  [[nodiscard]] result take(const driver_library& driver, event& out, event_handle*& handle) noexcept {
    {
      const std::lock_guard guard(mutex_);
      if (node* const spare = spare_; spare != nullptr) {
        spare_ = spare->next_spare;
        ++out_;
        return give(*spare, out, handle);
      }
    }
    void* const room = std::malloc(sizeof(node));
    if (room == nullptr) return result::out_of_memory;
    auto* const fresh = ::new (room) node{};
    const result made = driver.event_create(&fresh->handle, event_disable_timing);
    if (made != result::success) {
      fresh->~node();
      std::free(room);
      return made;
    }
    const std::lock_guard guard(mutex_);
    fresh->older = all_;
    all_ = fresh;
    ++out_;
    return give(*fresh, out, handle);
  }

  [[nodiscard]] static event_handle* handle_of(event point) noexcept { return node_of(point)->handle; }

  void put(event point) noexcept {
    const std::lock_guard guard(mutex_);
    node* const dropped = node_of(point);
    dropped->next_spare = spare_;
    spare_ = dropped;
    --out_;
  }

  [[nodiscard]] std::uint64_t out() const noexcept {
    const std::lock_guard guard(mutex_);
    return out_;
  }

  /// Destroys the driver's events, as long as it answers. The last call.
  void close(const driver_library& driver) noexcept {
    for (const node* at = all_; at != nullptr; at = at->older) {
      if (driver.event_destroy(at->handle) != result::success) return;
    }
  }

 private:
  struct node {
    event_handle* handle = nullptr;
    node* next_spare = nullptr;
    node* older = nullptr;
  };

  // NOLINTNEXTLINE(performance-no-int-to-ptr): an event is the number of its node, which give made of it
  static node* node_of(event point) noexcept { return reinterpret_cast<node*>(static_cast<std::uintptr_t>(point)); }
  static result give(const node& from, event& out, event_handle*& handle) noexcept {
    out = event{reinterpret_cast<std::uintptr_t>(&from)};
    handle = from.handle;
    return result::success;
  }

  mutable std::mutex mutex_;
  node* spare_ = nullptr;
  node* all_ = nullptr;
  std::uint64_t out_ = 0;
};

}  // namespace arcalloc::cuda
