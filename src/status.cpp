// SPDX-License-Identifier: Apache-2.0
#include <arcalloc/status.hpp>

namespace arcalloc {

const char* status_name(status value) noexcept {
  switch (value) {
    case status::ok:
      return "ok";
    case status::invalid_argument:
      return "invalid_argument";
    case status::request_too_large:
      return "request_too_large";
    case status::capacity_exceeded:
      return "capacity_exceeded";
    case status::device_out_of_memory:
      return "device_out_of_memory";
    case status::capture_miss:
      return "capture_miss";
    case status::unknown_pointer:
      return "unknown_pointer";
    case status::double_free:
      return "double_free";
    case status::backend_unavailable:
      return "backend_unavailable";
    case status::backend_failed:
      return "backend_failed";
    case status::shutting_down:
      return "shutting_down";
  }
  return "unknown_status";
}

}  // namespace arcalloc
