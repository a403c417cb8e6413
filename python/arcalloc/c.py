# SPDX-License-Identifier: Apache-2.0
"""arcalloc/arcalloc.h as it is, for ctypes: constants, structs and functions, by their names in C.

The rest of the package is made of these; use them for what it does not offer, with library.load() for the functions.
The conventions are numbered at the top of the header. tests/python/test_header.py has a C compiler compare sizes,
offsets and values with the header, and compares the types and the lists of names.
"""
from ctypes import (CFUNCTYPE, POINTER, Structure, c_char_p, c_int, c_int32, c_size_t, c_uint8, c_uint32, c_uint64,
                    c_void_p, sizeof)

CONSTANTS = {
    "ABI_VERSION": 1, "STRUCT_SIZE_MAX": 4096, "COUNTERS_VERSION": 1,
    "PER_THREAD_STREAM": 2**64 - 1, "NO_BOUND": 2**64 - 1,
    "OK": 0, "INVALID_ARGUMENT": 1, "REQUEST_TOO_LARGE": 2, "CAPACITY_EXCEEDED": 3, "DEVICE_OUT_OF_MEMORY": 4,
    "CAPTURE_MISS": 5, "UNKNOWN_POINTER": 6, "DOUBLE_FREE": 7, "BACKEND_UNAVAILABLE": 8, "BACKEND_FAILED": 9,
    "SHUTTING_DOWN": 10,
    "PHASE_MIXED": 0, "PHASE_PREFILL": 1, "PHASE_DECODE": 2,
    "GEOMETRY_8": 0, "GEOMETRY_1": 1, "GEOMETRY_2": 2, "GEOMETRY_4": 3, "GEOMETRY_16": 4, "GEOMETRY_EXACT": 5,
    "BOUND_DERIVED": 0, "BOUND_EXPLICIT": 1, "BOUND_UNBOUNDED": 2,
    "SWITCH_DEFAULT": 0, "SWITCH_ON": 1, "SWITCH_OFF": 2,
    "SEVERITY_WARNING": 0, "SEVERITY_ERROR": 1,
    "CAPTURE_AS_CONFIGURED": 0, "CAPTURE_GROW": 1, "CAPTURE_REFUSE": 2,
    "CUDA_CONTEXT_PRIMARY": 0, "CUDA_CONTEXT_CURRENT": 1, "CUDA_SOURCE_DRIVER": 0, "CUDA_SOURCE_STREAM_ORDERED": 1,
    "CAP_EXPLICIT": 0, "CAP_ENVIRONMENT": 1, "CAP_DERIVED": 2, "CAP_FALLBACK": 3, "CAP_UNBOUNDED": 4,
    "RECORDED_ALLOCATE": 0, "RECORDED_FREE": 1, "RECORDED_USE": 2, "RECORDED_REFUSAL": 3, "RECORDED_STEP": 4,
    "RECORDED_PHASE": 5, "RECORDED_CAPTURE_BEGIN": 6, "RECORDED_CAPTURE_JOIN": 7, "RECORDED_CAPTURE_END": 8,
    "RECORDED_CAPTURE_ABORT": 9, "RECORDED_GRAPH_LAUNCH": 10, "RECORDED_GRAPH_FORGET": 11,
    "RECORDED_STREAM_END": 12, "RECORDED_TRIM": 13, "RECORDED_DRAIN": 14, "RECORDED_SEGMENT_ALLOCATE": 15,
    "RECORDED_SEGMENT_FREE": 16,
}
globals().update(CONSTANTS)

TextSink = CFUNCTYPE(None, c_void_p, c_char_p)
DiagnosticSink = CFUNCTYPE(None, c_void_p, c_int32, c_char_p)


class DevicePointer(c_void_p):
    """arcalloc_device*"""


class AllocatorPointer(c_void_p):
    """arcalloc_allocator*"""


class ProfilePointer(c_void_p):
    """arcalloc_profile*"""


class Sized(Structure):
    """A struct that begins with its own size: made with that set, and the rest zero."""

    def __init__(self, **fields):
        super().__init__(size=sizeof(self), **fields)


class Block(Structure):
    _fields_ = [
        ("address", c_void_p),
        ("record", c_void_p),
    ]


class Options(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("cache", c_int32),
        ("cached_bytes_max_mode", c_int32),
        ("cached_bytes_max_from_environment", c_uint32),
        ("cached_bytes_max", c_uint64),
        ("capacity_bytes", c_uint64),
        ("geometry", c_int32),
        ("oom_retry", c_int32),
        ("cache_in_prefill", c_int32),
        ("stats_every_steps", c_uint32),
        ("sink", TextSink),
        ("sink_context", c_void_p),
        ("capture_miss", c_int32),
        ("zero", c_uint32),
        ("profile_path", c_char_p),
        ("trace_path", c_char_p),
    ]


class CaptureOptions(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("policy", c_int32),
        ("pool_group", c_uint64),
    ]


class CaptureMiss(Structure):
    _fields_ = [
        ("requested_bytes", c_uint64),
        ("class_bytes", c_uint64),
        ("stream", c_uint64),
        ("count", c_uint64),
    ]


class ProfileEntry(Structure):
    _fields_ = [
        ("stream", c_uint64),
        ("bytes", c_uint64),
        ("blocks", c_uint64),
    ]


class Backend(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("synchronous", c_uint32),
        ("granularity", c_uint64),
        ("name", c_char_p),
        ("context", c_void_p),
        ("allocate", CFUNCTYPE(c_int32, c_void_p, c_size_t, c_uint64, POINTER(c_void_p))),
        ("free", CFUNCTYPE(c_int32, c_void_p, c_void_p, c_size_t)),
        ("query_memory", CFUNCTYPE(c_int32, c_void_p, POINTER(c_uint64), POINTER(c_uint64))),
        ("record_event", CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(c_uint64))),
        ("query_event", CFUNCTYPE(c_int32, c_void_p, c_uint64, POINTER(c_int32))),
        ("wait_event", CFUNCTYPE(c_int32, c_void_p, c_uint64)),
        ("drop_event", CFUNCTYPE(None, c_void_p, c_uint64)),
        ("allocate_beside_capture", CFUNCTYPE(c_int32, c_void_p, c_size_t, c_uint64, POINTER(c_void_p))),
    ]


class RecordedEvent(Structure):
    _fields_ = [
        ("order", c_uint64),
        ("time_ns", c_uint64),
        ("id", c_uint64),
        ("bytes", c_uint64),
        ("stream", c_uint64),
        ("other", c_uint64),
        ("kind", c_uint8),
        ("before", c_uint8),
        ("detail", c_uint8),
        ("zero", c_uint8 * 5),
    ]


class RecordingSink(Structure):
    _fields_ = [
        ("write", CFUNCTYPE(c_int32, c_void_p, POINTER(RecordedEvent), c_size_t)),
        ("flush", CFUNCTYPE(c_int32, c_void_p)),
        ("close", CFUNCTYPE(c_int32, c_void_p)),
        ("context", c_void_p),
    ]


class RecordingState(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("outcome", c_int32),
        ("recording", c_uint64),
        ("events", c_uint64),
        ("lost", c_uint64),
    ]


class CudaOptions(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("ordinal", c_int32),
        ("context", c_int32),
        ("source", c_int32),
        ("granularity", c_uint64),
        ("driver_path", c_char_p),
    ]


class MemoryInfo(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("zero", c_uint32),
        ("free_bytes", c_uint64),
        ("total_bytes", c_uint64),
    ]


class CapArithmetic(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("query", c_int32),
        ("cached_bytes_max", c_uint64),
        ("cap_source", c_uint64),
        ("driver_free_bytes", c_uint64),
        ("own_cached_bytes", c_uint64),
        ("free_bytes", c_uint64),
        ("reserve_bytes", c_uint64),
        ("cached_bytes_max_wanted", c_uint64),
    ]


class Failure(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("outcome", c_int32),
        ("requested_bytes", c_uint64),
        ("class_bytes", c_uint64),
        ("stream", c_uint64),
        ("allocated_bytes", c_uint64),
        ("pending_bytes", c_uint64),
        ("cached_bytes", c_uint64),
        ("slack_bytes", c_uint64),
        ("pinned_bytes", c_uint64),
        ("stuck_bytes", c_uint64),
        ("reserved_bytes", c_uint64),
        ("cached_bytes_max", c_uint64),
        ("capacity_bytes", c_uint64),
        ("driver_free_bytes", c_uint64),
        ("largest_idle_bytes", c_uint64),
    ]


class SegmentExtent(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("zero", c_uint32),
        ("base", c_void_p),
        ("bytes", c_uint64),
        ("offset_bytes", c_uint64),
    ]


class Build(Sized):
    _fields_ = [
        ("size", c_uint32),
        ("abi_version", c_uint32),
        ("version", c_char_p),
        ("commit", c_char_p),
        ("dirty", c_char_p),
        ("compiler", c_char_p),
        ("build_type", c_char_p),
    ]


class Counters(Sized):
    _fields_ = [("size", c_uint32), ("version", c_uint32)] + [(name, c_uint64) for name in """
        steps requests hits misses bypassed bypassed_disabled bypassed_phase failed failed_invalid_argument
        failed_request_too_large failed_capacity_exceeded failed_device_out_of_memory failed_capture_miss
        failed_backend_unavailable failed_backend_failed failed_shutting_down frees refused_unknown_pointer
        refused_double_free refused_invalid_argument stream_cache_hits pool_hits reclaim_hits cross_stream_hits
        evict_retries tight_blocks wait_hits drain_retries capture_hits capture_misses capture_deferred
        graphs_pinned driver_allocs driver_frees driver_refusals evictions evicted_bytes waits driver_events
        requested_bytes requested_bytes_peak allocated_bytes allocated_bytes_peak pending_bytes
        pending_bytes_peak cached_bytes cached_bytes_peak slack_bytes slack_bytes_peak pinned_bytes
        pinned_bytes_peak stuck_bytes stuck_bytes_peak reserved_bytes reserved_bytes_peak held_bytes
        held_bytes_peak cached_bytes_max capacity_bytes cap_source classes_idle blocks_live blocks_idle
        segments_reserved thrash_evictions
    """.split()]


STRUCTS = {
    "arcalloc_block": Block, "arcalloc_options": Options, "arcalloc_capture_options": CaptureOptions,
    "arcalloc_capture_miss": CaptureMiss, "arcalloc_profile_entry": ProfileEntry, "arcalloc_backend": Backend,
    "arcalloc_cuda_options": CudaOptions, "arcalloc_memory_info": MemoryInfo, "arcalloc_cap_arithmetic": CapArithmetic, "arcalloc_failure": Failure,
    "arcalloc_recorded_event": RecordedEvent, "arcalloc_recording_sink": RecordingSink,
    "arcalloc_recording_state": RecordingState,
    "arcalloc_segment_extent": SegmentExtent, "arcalloc_build": Build, "arcalloc_counters": Counters,
}

# By name: the result, and the arguments.
FUNCTIONS = {
    "arcalloc_abi_version": (c_uint32, []),
    "arcalloc_built_as": (c_int32, [POINTER(Build)]),
    "arcalloc_status_name": (c_char_p, [c_int32]),
    "arcalloc_phase_name": (c_char_p, [c_int32]),
    "arcalloc_geometry_name": (c_char_p, [c_int32]),
    "arcalloc_cap_source_name": (c_char_p, [c_uint64]),
    "arcalloc_host_device_create": (c_int32, [c_uint64, POINTER(DevicePointer)]),
    "arcalloc_device_create": (c_int32, [POINTER(Backend), POINTER(DevicePointer)]),
    "arcalloc_cuda_device_create": (c_int32, [POINTER(CudaOptions), POINTER(DevicePointer), c_char_p, c_size_t]),
    "arcalloc_device_error_text": (c_int, [DevicePointer, c_char_p, c_size_t]),
    "arcalloc_device_destroy": (c_int32, [DevicePointer]),
    "arcalloc_device_name": (c_char_p, [DevicePointer]),
    "arcalloc_device_query_memory": (c_int32, [DevicePointer, POINTER(MemoryInfo)]),
    "arcalloc_options_from_environment": (c_int32, [POINTER(Options), DiagnosticSink, c_void_p]),
    "arcalloc_create": (c_int32, [DevicePointer, POINTER(Options), POINTER(AllocatorPointer)]),
    "arcalloc_destroy": (None, [AllocatorPointer]),
    "arcalloc_device_of": (DevicePointer, [AllocatorPointer]),
    "arcalloc_allocate": (c_int32, [AllocatorPointer, c_size_t, c_uint64, POINTER(Block)]),
    "arcalloc_deallocate": (c_int32, [AllocatorPointer, Block]),
    "arcalloc_deallocate_address": (c_int32, [AllocatorPointer, c_void_p]),
    "arcalloc_deallocate_address_sized": (c_int32, [AllocatorPointer, c_void_p, c_size_t]),
    "arcalloc_deallocate_on": (c_int32, [AllocatorPointer, Block, c_uint64]),
    "arcalloc_deallocate_address_on": (c_int32, [AllocatorPointer, c_void_p, c_uint64]),
    "arcalloc_note_use": (c_int32, [AllocatorPointer, Block, c_uint64]),
    "arcalloc_note_use_address": (c_int32, [AllocatorPointer, c_void_p, c_uint64]),
    "arcalloc_begin_recording": (c_int32, [AllocatorPointer, POINTER(RecordingSink)]),
    "arcalloc_record_to": (c_int32, [AllocatorPointer, c_char_p]),
    "arcalloc_flush_recording": (c_int32, [AllocatorPointer]),
    "arcalloc_end_recording": (c_int32, [AllocatorPointer]),
    "arcalloc_read_recording": (c_int32, [AllocatorPointer, POINTER(RecordingState)]),
    "arcalloc_end_stream": (c_int32, [AllocatorPointer, c_uint64]),
    "arcalloc_this_thread_stream": (c_uint64, []),
    "arcalloc_begin_capture": (c_int32, [AllocatorPointer, c_uint64, POINTER(CaptureOptions)]),
    "arcalloc_join_capture": (c_int32, [AllocatorPointer, c_uint64, c_uint64]),
    "arcalloc_end_capture": (c_int32, [AllocatorPointer, c_uint64, POINTER(c_uint64)]),
    "arcalloc_abort_capture": (c_int32, [AllocatorPointer, c_uint64]),
    "arcalloc_note_replay": (c_int32, [AllocatorPointer, c_uint64, c_uint64]),
    "arcalloc_release_graph": (c_int32, [AllocatorPointer, c_uint64]),
    "arcalloc_is_capturing": (c_int32, [AllocatorPointer, c_uint64, POINTER(c_int32)]),
    "arcalloc_read_capture_misses": (c_int32, [AllocatorPointer, POINTER(CaptureMiss), c_size_t, POINTER(c_size_t)]),
    "arcalloc_profile_create": (c_int32, [POINTER(ProfilePointer)]),
    "arcalloc_profile_destroy": (None, [ProfilePointer]),
    "arcalloc_profile_add": (c_int32, [ProfilePointer, POINTER(ProfileEntry)]),
    "arcalloc_profile_entries": (c_int32, [ProfilePointer, POINTER(ProfileEntry), c_size_t, POINTER(c_size_t)]),
    "arcalloc_profile_rename_stream": (c_int32, [ProfilePointer, c_uint64, c_uint64]),
    "arcalloc_profile_read": (c_int32, [ProfilePointer, c_char_p, c_char_p, c_size_t]),
    "arcalloc_profile_write": (c_int32, [ProfilePointer, c_char_p, c_char_p, c_size_t]),
    "arcalloc_begin_profile": (c_int32, [AllocatorPointer]),
    "arcalloc_end_profile": (c_int32, [AllocatorPointer, ProfilePointer]),
    "arcalloc_prewarm": (c_int32, [AllocatorPointer, ProfilePointer, ProfilePointer]),
    "arcalloc_verify": (c_int32, [AllocatorPointer, ProfilePointer, ProfilePointer]),
    "arcalloc_begin_phase": (c_int32, [AllocatorPointer, c_int32]),
    "arcalloc_current_phase": (c_int32, [AllocatorPointer, POINTER(c_int32)]),
    "arcalloc_end_step": (c_int32, [AllocatorPointer]),
    "arcalloc_trim": (c_int32, [AllocatorPointer, c_uint64]),
    "arcalloc_drain": (c_int32, [AllocatorPointer]),
    "arcalloc_set_enabled": (c_int32, [AllocatorPointer, c_int32]),
    "arcalloc_set_cached_bytes_max": (c_int32, [AllocatorPointer, c_int32, c_uint64]),
    "arcalloc_set_capacity_bytes": (c_int32, [AllocatorPointer, c_uint64]),
    "arcalloc_read_counters": (c_int32, [AllocatorPointer, POINTER(Counters)]),
    "arcalloc_read_step_counters": (c_int32, [AllocatorPointer, POINTER(Counters)]),
    "arcalloc_reset_peaks": (c_int32, [AllocatorPointer]),
    "arcalloc_read_cap": (c_int32, [AllocatorPointer, POINTER(CapArithmetic)]),
    "arcalloc_last_failure": (c_int32, [AllocatorPointer, POINTER(Failure)]),
    "arcalloc_locate": (c_int32, [AllocatorPointer, c_void_p, POINTER(SegmentExtent)]),
    "arcalloc_counters_between": (c_int32, [POINTER(Counters), POINTER(Counters), POINTER(Counters)]),
    "arcalloc_failure_text": (c_int, [POINTER(Failure), c_char_p, c_size_t]),
    "arcalloc_step_report_text": (c_int, [POINTER(Counters), c_uint64, c_char_p, c_size_t]),
    "arcalloc_counters_json": (c_int, [POINTER(Counters), c_char_p, c_size_t]),
    "arcalloc_metrics_text": (c_int, [POINTER(POINTER(Counters)), POINTER(c_char_p), c_size_t, c_char_p, c_size_t]),
}
