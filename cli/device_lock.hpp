// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace arcalloc::cli {

/// Holds the host device for one decode run, so that no other measures on it at the same time.
///
/// An flock on a file in $XDG_RUNTIME_DIR, or /tmp where that is not set: the kernel lets go of it
/// when the process ends, however it ends, so there is no stale lock. Held by the parent of the legs
/// from before the first leg to after the last. It keeps out the decodes of the same user; memory
/// that others take is seen by the check on available memory.
class device_lock {
 public:
  /// Takes the lock at once or throws command_failure (device_refused) naming the holder's process
  /// id and the file.
  device_lock();
  ~device_lock();

  device_lock(const device_lock&) = delete;
  device_lock& operator=(const device_lock&) = delete;

  static std::string path();

 private:
  int file_ = -1;
};

/// Throws command_failure (device_refused) when less memory is available than the device promises.
void require_room(unsigned long long device_bytes);

}  // namespace arcalloc::cli
