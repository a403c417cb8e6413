// SPDX-License-Identifier: Apache-2.0
#include "thread_registry.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <mutex>
#include <new>

namespace arcalloc::detail {

namespace {

struct known_record {
  std::uint64_t identity;
  thread_record* record;
  known_record* next;
};

struct registry {
  std::mutex mutex;
  list<record_home, &record_home::in_registry> homes;
  std::uint64_t last_identity = 0;
  std::atomic<bool> key_made{false};
  bool called_at_exit = false;
  pthread_key_t key{};
};

// Constant-initialised and never destroyed in effect: a thread may exit after main has returned.
constinit registry shared_registry;

thread_local constinit known_record* known_of_thread = nullptr;

void on_thread_exit(void*) noexcept {
  // A record is known until it is retired: its allocator looks for it on the way.
  while (known_record* const at = known_of_thread) {
    {
      const std::lock_guard guard(shared_registry.mutex);
      for (record_home* home = shared_registry.homes.front(); home != nullptr;
           home = decltype(shared_registry.homes)::next(home)) {
        if (home->identity == at->identity) home->retire(*home, *at->record);
      }
    }
    known_of_thread = at->next;
    recent_of_thread = {0, nullptr};
    std::free(at);
  }
}

void on_process_exit() noexcept {
  const std::lock_guard guard(shared_registry.mutex);
  for (record_home* home = shared_registry.homes.front(); home != nullptr;
       home = decltype(shared_registry.homes)::next(home)) {
    if (home->at_exit != nullptr) home->at_exit(*home);
  }
}

bool is_alive(std::uint64_t identity) noexcept {
  for (const record_home* home = shared_registry.homes.front(); home != nullptr;
       home = decltype(shared_registry.homes)::next(home)) {
    if (home->identity == identity) return true;
  }
  return false;
}

/// Drops what the calling thread remembers of allocators that are gone, so that a thread which makes one after
/// the other does not remember them all. Requires: the registry's mutex.
void forget_the_dead() noexcept {
  for (known_record** at = &known_of_thread; *at != nullptr;) {
    known_record* const known = *at;
    if (is_alive(known->identity)) {
      at = &known->next;
      continue;
    }
    *at = known->next;
    std::free(known);
  }
  if (shared_registry.key_made.load(std::memory_order_relaxed)) {
    // Only fails where there was no value before, and then there is nothing to change.
    (void)::pthread_setspecific(shared_registry.key, known_of_thread);
  }
}

}  // namespace

void register_home(record_home& home) noexcept {
  const std::lock_guard guard(shared_registry.mutex);
  // Without a key threads share the pool's own record, under its mutex: slow, and right.
  if (!shared_registry.key_made.load(std::memory_order_relaxed) &&
      ::pthread_key_create(&shared_registry.key, on_thread_exit) == 0) {
    shared_registry.key_made.store(true, std::memory_order_release);
  }
  forget_the_dead();
  home.identity = ++shared_registry.last_identity;
  shared_registry.homes.push_back(&home);
}

void call_at_exit() noexcept {
  const std::lock_guard guard(shared_registry.mutex);
  if (!shared_registry.called_at_exit) shared_registry.called_at_exit = std::atexit(on_process_exit) == 0;
}

void unregister_home(record_home& home) noexcept {
  const std::lock_guard guard(shared_registry.mutex);
  shared_registry.homes.remove(&home);
}

thread_record* find_older_record(std::uint64_t identity) noexcept {
  for (const known_record* at = known_of_thread; at != nullptr; at = at->next) {
    if (at->identity != identity) continue;
    recent_of_thread = {identity, at->record};
    return at->record;
  }
  return nullptr;
}

bool remember_record(std::uint64_t identity, thread_record& record) noexcept {
  if (!shared_registry.key_made.load(std::memory_order_acquire)) return false;
  void* const room = std::malloc(sizeof(known_record));
  if (room == nullptr) return false;
  auto* const fresh = ::new (room) known_record{identity, &record, known_of_thread};
  if (::pthread_setspecific(shared_registry.key, fresh) != 0) {
    std::free(room);
    return false;
  }
  known_of_thread = fresh;
  recent_of_thread = {identity, &record};
  return true;
}

}  // namespace arcalloc::detail
