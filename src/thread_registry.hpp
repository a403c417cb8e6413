// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "thread_record.hpp"

// Which record is the calling thread's: a thread-local for the last allocator used, a short list for
// the others. A thread's exit is noticed through a pthread key; allocators are looked up by identity
// then, and an identity is never used twice, so a record of a dead allocator is never touched.

namespace arcalloc::detail {

/// Where a thread's exit reports the records it leaves. An allocator's pool is one.
struct record_home {
  std::uint64_t identity = 0;
  list_links<record_home> in_registry{};
  /// The exiting thread gives up its record. Called with the registry's mutex held, which therefore comes
  /// before a pool's own.
  void (*retire)(record_home& self, thread_record& record) noexcept = nullptr;
  /// The process ends in the ordinary way. Called with the registry's mutex held.
  void (*at_exit)(record_home& self) noexcept = nullptr;
};

/// Gives `home` a fresh identity and makes it known to exiting threads.
void register_home(record_home& home) noexcept;

/// No thread's exit touches `home` after this.
void unregister_home(record_home& home) noexcept;

/// Each home that is known when the process ends in the ordinary way has its at_exit called, from now on.
void call_at_exit() noexcept;

struct recent_record {
  std::uint64_t identity;
  thread_record* record;
};

/// In the storage that a library gets when it is loaded, one addition from the thread's pointer: any other model
/// costs a call on each hit. Two words of the room that the C library keeps for libraries that are opened later.
[[gnu::tls_model("initial-exec")]] inline thread_local constinit recent_record recent_of_thread{0, nullptr};

[[nodiscard]] thread_record* find_older_record(std::uint64_t identity) noexcept;

/// The calling thread's record, or null at its first call to this allocator.
[[nodiscard]] inline thread_record* find_record(std::uint64_t identity) noexcept {
  if (recent_of_thread.identity == identity) [[likely]]
    return recent_of_thread.record;
  return find_older_record(identity);
}

/// Remembers it until the thread exits. False when the host has no memory for that.
[[nodiscard]] bool remember_record(std::uint64_t identity, thread_record& record) noexcept;

}  // namespace arcalloc::detail
