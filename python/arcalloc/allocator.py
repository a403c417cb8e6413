# SPDX-License-Identifier: Apache-2.0
"""Devices, allocators and blocks.

Any thread may call them, several at once; a close must be the last call on its object. What is closed says so instead of
reaching the library. Nothing here caches or counts: the cost of a call is that of ctypes, about a microsecond, so this is
for reading, steering and testing, while an engine's own requests come from C, C++ or Rust.
"""
import ctypes
import os

from . import c
from .errors import InvalidArgument, check
from .library import load
from .options import Options, bound_of, bytes_of, one_of
from .readings import Counters, metrics, text_of

DEFAULT_STREAM = 0
PER_THREAD_STREAM = c.PER_THREAD_STREAM

_PHASES = {"mixed": c.PHASE_MIXED, "prefill": c.PHASE_PREFILL, "decode": c.PHASE_DECODE}


def fields_of(struct):
    """A reading as a dict, without the size that it begins with."""
    return {name: getattr(struct, name) for name, _ in type(struct)._fields_[1:] if name != "zero"}


class Owned:
    """Something of the library's that is ended by close(), at the end of a `with`, or with its last reference."""

    _pointer = None

    def _live(self):
        if self._pointer is None:
            raise InvalidArgument(f"this {type(self).__name__} is closed")
        return self._pointer

    def __enter__(self):
        self._live()
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        self.close()


class Device(Owned):
    """What allocators stand on: memory of this process, up to so many bytes (at least a page); or Device.cuda()."""

    def __init__(self, size_bytes):
        pointer = c.DevicePointer()
        check(load().arcalloc_host_device_create(bytes_of(size_bytes, "size_bytes"), pointer))
        self._pointer = pointer

    @classmethod
    def cuda(cls, ordinal=0, driver_path=None):
        """A GPU, by its number, through CUDA's driver: libcuda.so.1 as the loader finds it, or the file named. Refused,
        the exception says what is missing. docs/cuda.md is about it."""
        made, pointer, text = cls.__new__(cls), c.DevicePointer(), ctypes.create_string_buffer(512)
        how = c.CudaOptions(ordinal=ordinal, driver_path=os.fsencode(driver_path) if driver_path is not None else None)
        status = load().arcalloc_cuda_device_create(how, pointer, text, len(text))
        check(status, text.value.decode(errors="replace"))
        made._pointer = pointer
        return made

    def error_text(self):
        """What its driver failed to do last, in a sentence; "" where nothing is known."""
        return text_of(lambda room, size: load().arcalloc_device_error_text(self._live(), room, size))

    @property
    def name(self):
        return load().arcalloc_device_name(self._live()).decode()

    def query_memory(self):
        """free_bytes and total_bytes, as the driver sees them now."""
        found = c.MemoryInfo()
        check(load().arcalloc_device_query_memory(self._live(), found))
        return fields_of(found)

    def close(self):
        """Refused with InvalidArgument while an allocator stands on it."""
        if self._pointer is not None:
            check(load().arcalloc_device_destroy(self._pointer), "an allocator stands on this Device")
            self._pointer = None


class Block(Owned):
    """One piece of device memory: `address` (None for 0 bytes), `bytes` and `stream` as requested. Given back by free(),
    at the end of a `with`, or with its last reference; work enqueued before on its own stream may still use it."""

    def __init__(self, allocator, struct, requested, stream):
        self._allocator, self._pointer = allocator, struct
        self.bytes, self.stream = requested, stream

    @property
    def address(self):
        return self._live().address

    def note_use(self, stream):
        """Work on `stream`, another than its own, uses it: given back, it is pending until that has passed."""
        check(load().arcalloc_note_use(self._allocator._live(), self._live(), bytes_of(stream, "stream")))

    def free(self, stream=None):
        """Gives it back; ordered on `stream` where that is given."""
        if stream is None:
            check(load().arcalloc_deallocate(self._allocator._live(), self._live()))
        else:
            on = bytes_of(stream, "stream")
            check(load().arcalloc_deallocate_on(self._allocator._live(), self._live(), on))
        self._pointer = None

    def close(self):
        # A closed allocator has taken its blocks with it.
        if self._pointer is not None and self._allocator._pointer is not None:
            self.free()
        self._pointer = None


class Allocator(Owned):
    """A bounded cache of device memory, in front of a device, which it keeps."""

    def __init__(self, device, options=None):
        self._device, self._options = device, options or Options()
        pointer = c.AllocatorPointer()
        check(load().arcalloc_create(device._live(), self._options._struct, pointer))
        self._pointer = pointer

    def close(self):
        """Gives everything back to the driver; live blocks die with it."""
        if self._pointer is not None:
            load().arcalloc_destroy(self._pointer)
            self._pointer = None

    def allocate(self, size_bytes, stream=DEFAULT_STREAM):
        """At least so many bytes for work on the stream, aligned to 512."""
        struct = c.Block()
        size_bytes, stream = bytes_of(size_bytes, "size_bytes"), bytes_of(stream, "stream")
        check(load().arcalloc_allocate(self._live(), size_bytes, stream, struct))
        return Block(self, struct, size_bytes, stream)

    def deallocate_address(self, address):
        """Gives back by address, at the cost of one lookup; what is not out is refused. Not for what a Block has."""
        check(load().arcalloc_deallocate_address(self._live(), bytes_of(address, "address")))

    def end_stream(self, stream):
        """The stream goes away: called before the driver destroys it."""
        check(load().arcalloc_end_stream(self._live(), bytes_of(stream, "stream")))

    @property
    def phase(self):
        """"mixed", "prefill" or "decode"; may be set."""
        found = c.c_int32()
        check(load().arcalloc_current_phase(self._live(), found))
        return load().arcalloc_phase_name(found.value).decode()

    @phase.setter
    def phase(self, name):
        check(load().arcalloc_begin_phase(self._live(), one_of(_PHASES, name, "phase")))

    def end_step(self):
        check(load().arcalloc_end_step(self._live()))

    def trim(self, cached_bytes_target=0):
        """Gives idle memory back until cached_bytes is at most the target. Never waits."""
        check(load().arcalloc_trim(self._live(), bytes_of(cached_bytes_target, "cached_bytes_target")))

    def drain(self):
        """Gives all idle memory back. Waits for pending work."""
        check(load().arcalloc_drain(self._live()))

    def record_to(self, path):
        """Records every request from now on, and what is out already, into a trace file, which is emptied."""
        check(load().arcalloc_record_to(self._live(), os.fsencode(path)))

    def flush_recording(self):
        """Writes what has been noted, so that it is in the file whatever comes."""
        check(load().arcalloc_flush_recording(self._live()))

    def end_recording(self):
        """Writes the rest and closes the file. Raises BackendFailed where events were lost."""
        check(load().arcalloc_end_recording(self._live()))

    def recording(self):
        """How the recording goes, or how the last one went: a dict of recording (bool), events and lost."""
        found = c.RecordingState()
        check(load().arcalloc_read_recording(self._live(), found))
        return {"recording": bool(found.recording), "events": found.events, "lost": found.lost}

    def set_enabled(self, enabled):
        """Switches the cache on, or off with a drain."""
        check(load().arcalloc_set_enabled(self._live(), 1 if enabled else 0))

    def set_cached_bytes_max(self, bound):
        """None (derived), a number of bytes, or UNBOUNDED; obeyed before this returns."""
        mode, size_bytes = bound_of(bound)
        check(load().arcalloc_set_cached_bytes_max(self._live(), mode, size_bytes))

    def set_capacity_bytes(self, size_bytes):
        """0: none. CapacityExceeded, and no change, when live blocks stand in the way."""
        check(load().arcalloc_set_capacity_bytes(self._live(), bytes_of(size_bytes, "capacity_bytes")))

    def counters(self):
        """Every counter since creation."""
        found = c.Counters()
        check(load().arcalloc_read_counters(self._live(), found))
        return Counters(found)

    def step_counters(self):
        """Every counter over the last step that was ended."""
        found = c.Counters()
        check(load().arcalloc_read_step_counters(self._live(), found))
        return Counters(found)

    def metrics(self, labels=()):
        """The page that Prometheus scrapes; `labels` as a dict."""
        return metrics([(dict(labels), self.counters())])

    def reset_peaks(self):
        """Sets every peak to the present value; resets nothing else."""
        check(load().arcalloc_reset_peaks(self._live()))

    def cap(self):
        """How the bound on cached bytes was found, as a dict."""
        found = c.CapArithmetic()
        check(load().arcalloc_read_cap(self._live(), found))
        shown = fields_of(found)
        shown["query"] = load().arcalloc_status_name(found.query).decode()
        shown["cap_source"] = load().arcalloc_cap_source_name(found.cap_source).decode()
        return shown

    def last_failure(self):
        """The last refusal by the ladder in one line, or None."""
        found = c.Failure()
        check(load().arcalloc_last_failure(self._live(), found))
        if found.outcome == c.OK:
            return None
        return text_of(lambda room, size: load().arcalloc_failure_text(found, room, size))

    def locate(self, address):
        """base, bytes and offset_bytes of the segment behind an address."""
        found = c.SegmentExtent()
        check(load().arcalloc_locate(self._live(), bytes_of(address, "address"), found))
        return fields_of(found)


def this_thread_stream():
    """What PER_THREAD_STREAM means on the calling thread, as a value that means the same on every thread."""
    return load().arcalloc_this_thread_stream()
