# SPDX-License-Identifier: Apache-2.0
"""arcalloc, a bounded caching allocator for device memory made for LLM decode, from Python.

Over the shared library by ctypes, without compiling anything; the library is opened at the first call.

    import arcalloc

    with arcalloc.Device(1 << 30) as device, arcalloc.Allocator(device) as memory:
        with memory.allocate(1 << 20) as scores:
            ...  # work on the default stream that uses scores.address
        memory.end_step()
        print(memory.step_counters().report())

docs/python.md is the page about it.
"""
from .allocator import DEFAULT_STREAM, PER_THREAD_STREAM, Allocator, Block, Device, this_thread_stream
from .capture import Graph, Profile, Window, capture_misses
from .errors import (BackendFailed, BackendUnavailable, CapacityExceeded, CaptureMiss, DeviceOutOfMemory, DoubleFree,
                     Error, InvalidArgument, RequestTooLarge, ShuttingDown, UnknownPointer)
from .library import LibraryError
from .options import UNBOUNDED, Options
from .readings import Counters, built_as, metrics

__version__ = "0.1.0"
__all__ = [
    "DEFAULT_STREAM", "PER_THREAD_STREAM", "UNBOUNDED", "Allocator", "BackendFailed", "BackendUnavailable", "Block",
    "CapacityExceeded", "CaptureMiss", "Counters", "Device", "DeviceOutOfMemory", "DoubleFree", "Error", "Graph",
    "InvalidArgument", "LibraryError", "Options", "Profile", "RequestTooLarge", "ShuttingDown", "UnknownPointer",
    "Window", "built_as", "capture_misses", "metrics", "this_thread_stream",
]
