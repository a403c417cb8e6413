// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <arcalloc/recording.h>

namespace arcalloc {

/// Recording: what an allocator does, as events to a sink. One struct for C and C++.
using recorded_event = arcalloc_recorded_event;
using recording_sink = arcalloc_recording_sink;
using recording_state = arcalloc_recording_state;

}  // namespace arcalloc
