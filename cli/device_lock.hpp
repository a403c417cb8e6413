// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace arcalloc::cli {

/// Holds a device for one decode run, so that no other measures on it at the same time.
///
/// An flock on a file in $XDG_RUNTIME_DIR, or /tmp where that is not set: the kernel lets go of it
/// when the process ends, however it ends, so there is no stale lock. Held by the parent of the legs
/// from before the first leg to after the last. It keeps out the decodes of the same user; memory
/// that others take is seen by the check on available memory.
class device_lock {
 public:
  /// Takes the lock of the device of that name ("host", "cuda:0") at once, or throws command_failure
  /// (device_refused) naming the holder's process id and the file.
  explicit device_lock(const std::string& device);
  ~device_lock();

  device_lock(const device_lock&) = delete;
  device_lock& operator=(const device_lock&) = delete;

  static std::string path(const std::string& device);

 private:
  int file_ = -1;
};

/// Throws command_failure (device_refused) when less memory is available than the host device promises.
void require_room(unsigned long long device_bytes);

/// What a card without anybody on it may have in use: the driver's own, and this program's context.
inline constexpr unsigned long long card_in_use_bytes_most = 1ULL << 30;

/// Throws command_failure (device_refused) when more of the card is in use.
void require_empty(const std::string& device, unsigned long long used_bytes);

}  // namespace arcalloc::cli
