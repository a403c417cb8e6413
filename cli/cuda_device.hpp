// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/cuda_backend.hpp>
#include <memory>
#include <string>

#include "flag_values.hpp"

namespace arcalloc::cli {

/// The open device that --device cuda:N names. Throws command_failure (device_refused) with what is missing: the
/// driver, a function of it, or the device.
std::unique_ptr<cuda_backend> require_cuda_device(const device_choice& device);

/// What there is of CUDA: "CUDA 13.0, NVIDIA H200", or "not available: " and why.
std::string cuda_text();

/// "CUDA 13.0".
std::string driver_text(const cuda_backend& device);

}  // namespace arcalloc::cli
