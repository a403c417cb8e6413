// SPDX-License-Identifier: Apache-2.0
//! The structs of arcalloc.h. Each but [`Block`], [`RecordingSink`] and the elements of arrays
//! begins with its own size, which `new` sets.

use super::Field;
use std::os::raw::{c_char, c_void};

macro_rules! structs {
    ($($c_name:ident as $name:ident { $($field:ident: $kind:ty,)* })*) => {
        $(
            #[doc = concat!("`", stringify!($c_name), "`: see the header for each field")]
            #[repr(C)]
            #[derive(Clone, Copy)]
            #[allow(missing_docs)]
            pub struct $name { $(pub $field: $kind,)* }

            impl $name {
                /// Zero everywhere.
                #[inline]
                #[must_use]
                pub fn zeroed() -> Self {
                    // SAFETY: of integers, raw pointers and optional functions alone, for all of which zero is a value.
                    unsafe { std::mem::zeroed() }
                }

                /// Its fields as this compiler has laid them out.
                #[must_use]
                pub fn fields() -> Vec<Field> {
                    let one = Self::zeroed();
                    let start = std::ptr::addr_of!(one) as usize;
                    vec![$(Field {
                        name: stringify!($field),
                        offset: std::ptr::addr_of!(one.$field) as usize - start,
                        size: std::mem::size_of_val(&one.$field),
                        kind: stringify!($kind),
                    },)*]
                }
            }
        )*
        /// Every struct: its name in C, its size, and its fields.
        #[must_use]
        pub fn structs() -> Vec<(&'static str, usize, Vec<Field>)> {
            vec![$((stringify!($c_name), std::mem::size_of::<$name>(), $name::fields()),)*]
        }
    };
}

macro_rules! sized {
    ($($name:ident)*) => { $(
        impl $name {
            /// Zero, with its size set: as shipped.
            #[inline]
            #[must_use]
            #[allow(clippy::new_without_default, clippy::cast_possible_truncation)]
            pub fn new() -> Self {
                let mut made = Self::zeroed();
                made.size = std::mem::size_of::<Self>() as u32;
                made
            }
        }
    )* };
}

sized! { Options CaptureOptions Backend CudaOptions MemoryInfo CapArithmetic Failure SegmentExtent Build Counters }
sized! { RecordingState }

structs! {
    arcalloc_block as Block {
        address: *mut c_void,
        record: *mut c_void,
    }
    arcalloc_options as Options {
        size: u32,
        cache: i32,
        cached_bytes_max_mode: i32,
        cached_bytes_max_from_environment: u32,
        cached_bytes_max: u64,
        capacity_bytes: u64,
        geometry: i32,
        oom_retry: i32,
        cache_in_prefill: i32,
        stats_every_steps: u32,
        sink: Option<unsafe extern "C" fn(*mut c_void, *const c_char)>,
        sink_context: *mut c_void,
        capture_miss: i32,
        zero: u32,
        profile_path: *const c_char,
        trace_path: *const c_char,
    }
    arcalloc_capture_options as CaptureOptions {
        size: u32,
        policy: i32,
        pool_group: u64,
    }
    arcalloc_capture_miss as CaptureMiss {
        requested_bytes: u64,
        class_bytes: u64,
        stream: u64,
        count: u64,
    }
    arcalloc_profile_entry as ProfileEntry {
        stream: u64,
        bytes: u64,
        blocks: u64,
    }
    arcalloc_backend as Backend {
        size: u32,
        synchronous: u32,
        granularity: u64,
        name: *const c_char,
        context: *mut c_void,
        allocate: Option<unsafe extern "C" fn(*mut c_void, usize, u64, *mut *mut c_void) -> i32>,
        free: Option<unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> i32>,
        query_memory: Option<unsafe extern "C" fn(*mut c_void, *mut u64, *mut u64) -> i32>,
        record_event: Option<unsafe extern "C" fn(*mut c_void, u64, *mut u64) -> i32>,
        query_event: Option<unsafe extern "C" fn(*mut c_void, u64, *mut i32) -> i32>,
        wait_event: Option<unsafe extern "C" fn(*mut c_void, u64) -> i32>,
        drop_event: Option<unsafe extern "C" fn(*mut c_void, u64)>,
        allocate_beside_capture: Option<unsafe extern "C" fn(*mut c_void, usize, u64, *mut *mut c_void) -> i32>,
    }
    arcalloc_cuda_options as CudaOptions {
        size: u32,
        ordinal: i32,
        context: i32,
        source: i32,
        granularity: u64,
        driver_path: *const c_char,
    }
    arcalloc_memory_info as MemoryInfo {
        size: u32,
        zero: u32,
        free_bytes: u64,
        total_bytes: u64,
    }
    arcalloc_cap_arithmetic as CapArithmetic {
        size: u32,
        query: i32,
        cached_bytes_max: u64,
        cap_source: u64,
        driver_free_bytes: u64,
        own_cached_bytes: u64,
        free_bytes: u64,
        reserve_bytes: u64,
        cached_bytes_max_wanted: u64,
    }
    arcalloc_failure as Failure {
        size: u32,
        outcome: i32,
        requested_bytes: u64,
        class_bytes: u64,
        stream: u64,
        allocated_bytes: u64,
        pending_bytes: u64,
        cached_bytes: u64,
        slack_bytes: u64,
        pinned_bytes: u64,
        stuck_bytes: u64,
        reserved_bytes: u64,
        cached_bytes_max: u64,
        capacity_bytes: u64,
        driver_free_bytes: u64,
        largest_idle_bytes: u64,
    }
    arcalloc_segment_extent as SegmentExtent {
        size: u32,
        zero: u32,
        base: *mut c_void,
        bytes: u64,
        offset_bytes: u64,
    }
    arcalloc_build as Build {
        size: u32,
        abi_version: u32,
        version: *const c_char,
        commit: *const c_char,
        dirty: *const c_char,
        compiler: *const c_char,
        build_type: *const c_char,
    }
    arcalloc_recorded_event as RecordedEvent {
        order: u64,
        time_ns: u64,
        id: u64,
        bytes: u64,
        stream: u64,
        other: u64,
        kind: u8,
        before: u8,
        detail: u8,
        zero: [u8; 5],
    }
    arcalloc_recording_sink as RecordingSink {
        write: Option<unsafe extern "C" fn(*mut c_void, *const RecordedEvent, usize) -> i32>,
        flush: Option<unsafe extern "C" fn(*mut c_void) -> i32>,
        close: Option<unsafe extern "C" fn(*mut c_void) -> i32>,
        context: *mut c_void,
    }
    arcalloc_recording_state as RecordingState {
        size: u32,
        outcome: i32,
        recording: u64,
        events: u64,
        lost: u64,
    }
    arcalloc_counters as Counters {
        size: u32,
        version: u32,
        steps: u64,
        requests: u64,
        hits: u64,
        misses: u64,
        bypassed: u64,
        bypassed_disabled: u64,
        bypassed_phase: u64,
        failed: u64,
        failed_invalid_argument: u64,
        failed_request_too_large: u64,
        failed_capacity_exceeded: u64,
        failed_device_out_of_memory: u64,
        failed_capture_miss: u64,
        failed_backend_unavailable: u64,
        failed_backend_failed: u64,
        failed_shutting_down: u64,
        frees: u64,
        refused_unknown_pointer: u64,
        refused_double_free: u64,
        refused_invalid_argument: u64,
        stream_cache_hits: u64,
        pool_hits: u64,
        reclaim_hits: u64,
        cross_stream_hits: u64,
        evict_retries: u64,
        tight_blocks: u64,
        wait_hits: u64,
        drain_retries: u64,
        capture_hits: u64,
        capture_misses: u64,
        capture_deferred: u64,
        graphs_pinned: u64,
        driver_allocs: u64,
        driver_frees: u64,
        driver_refusals: u64,
        evictions: u64,
        evicted_bytes: u64,
        waits: u64,
        driver_events: u64,
        requested_bytes: u64,
        requested_bytes_peak: u64,
        allocated_bytes: u64,
        allocated_bytes_peak: u64,
        pending_bytes: u64,
        pending_bytes_peak: u64,
        cached_bytes: u64,
        cached_bytes_peak: u64,
        slack_bytes: u64,
        slack_bytes_peak: u64,
        pinned_bytes: u64,
        pinned_bytes_peak: u64,
        stuck_bytes: u64,
        stuck_bytes_peak: u64,
        reserved_bytes: u64,
        reserved_bytes_peak: u64,
        held_bytes: u64,
        held_bytes_peak: u64,
        cached_bytes_max: u64,
        capacity_bytes: u64,
        cap_source: u64,
        classes_idle: u64,
        blocks_live: u64,
        blocks_idle: u64,
        segments_reserved: u64,
        thrash_evictions: u64,
    }
}

impl Counters {
    /// Each counter by name, in the order of the header.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        Self::fields().into_iter().filter(|field| field.kind == "u64").map(move |field| {
            let start = (self as *const Self).cast::<u8>();
            // SAFETY: a field of ours, of that type, by its own offset.
            (field.name, unsafe { start.add(field.offset).cast::<u64>().read() })
        })
    }
}
