// SPDX-License-Identifier: Apache-2.0
#include "cuda_device.hpp"

#include "exit_status.hpp"

namespace arcalloc::cli {

namespace {

std::string error_of(const cuda_backend& device) {
  std::string text(static_cast<std::size_t>(device.error_text(nullptr, 0)), '\0');
  device.error_text(text.data(), text.size() + 1);
  return text;
}

}  // namespace

std::unique_ptr<cuda_backend> require_cuda_device(const device_choice& device) {
  auto opened = std::make_unique<cuda_backend>();
  cuda_options how;
  how.ordinal = device.ordinal;
  how.source = device.is_stream_ordered ? cuda_source::stream_ordered : cuda_source::driver;
  if (opened->open(how) != status::ok) {
    throw command_failure{exit_status::device_refused, "--device " + device.text + ": " + error_of(*opened)};
  }
  return opened;
}

std::string cuda_text() {
  cuda_backend device;
  if (device.open({}) != status::ok) return "not available: " + error_of(device);
  return driver_text(device) + ", " + device.device_name();
}

std::string driver_text(const cuda_backend& device) {
  const int version = device.driver_version();
  return "CUDA " + std::to_string(version / 1000) + '.' + std::to_string(version % 1000 / 10);
}

}  // namespace arcalloc::cli
