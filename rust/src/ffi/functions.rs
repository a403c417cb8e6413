// SPDX-License-Identifier: Apache-2.0
//! The functions of arcalloc.h. Unsafe for what the header asks of the caller: pointers that point to what they say,
//! objects that have not been destroyed, blocks that `arcalloc_allocate` gave.

use super::{
    Allocator, Backend, Block, Build, CapArithmetic, CaptureMiss, CaptureOptions, Counters, CudaOptions, Device,
    Failure, MemoryInfo, Options, Profile, ProfileEntry, SegmentExtent,
};
use super::{RecordingSink, RecordingState};
use std::os::raw::{c_char, c_int, c_void};

macro_rules! functions {
    ($(fn $name:ident($($given:ident: $kind:ty),* $(,)?) $(-> $result:ty)?;)*) => {
        #[allow(missing_docs)]
        extern "C" {
            $(pub fn $name($($given: $kind),*) $(-> $result)?;)*
        }
        /// Every function: its name, the types of its arguments, and of its result (empty: none), as written here.
        pub const FUNCTIONS: &[(&str, &[&str], &str)] =
            &[$((stringify!($name), &[$(stringify!($kind)),*], concat!("", $(stringify!($result))?)),)*];
    };
}

functions! {
    fn arcalloc_abi_version() -> u32;
    fn arcalloc_built_as(out: *mut Build) -> i32;
    fn arcalloc_status_name(value: i32) -> *const c_char;
    fn arcalloc_phase_name(value: i32) -> *const c_char;
    fn arcalloc_geometry_name(value: i32) -> *const c_char;
    fn arcalloc_cap_source_name(value: u64) -> *const c_char;
    fn arcalloc_host_device_create(size_bytes: u64, out: *mut *mut Device) -> i32;
    fn arcalloc_device_create(backend: *const Backend, out: *mut *mut Device) -> i32;
    fn arcalloc_cuda_device_create(
        options: *const CudaOptions,
        out: *mut *mut Device,
        text: *mut c_char,
        capacity: usize,
    ) -> i32;
    fn arcalloc_device_error_text(device: *const Device, text: *mut c_char, capacity: usize) -> c_int;
    fn arcalloc_device_destroy(device: *mut Device) -> i32;
    fn arcalloc_device_name(device: *const Device) -> *const c_char;
    fn arcalloc_device_query_memory(device: *const Device, out: *mut MemoryInfo) -> i32;
    fn arcalloc_options_from_environment(
        options: *mut Options,
        sink: Option<unsafe extern "C" fn(*mut c_void, i32, *const c_char)>,
        sink_context: *mut c_void,
    ) -> i32;
    fn arcalloc_create(device: *mut Device, options: *const Options, out: *mut *mut Allocator) -> i32;
    fn arcalloc_destroy(allocator: *mut Allocator);
    fn arcalloc_device_of(allocator: *const Allocator) -> *mut Device;
    fn arcalloc_allocate(allocator: *mut Allocator, bytes: usize, stream: u64, out: *mut Block) -> i32;
    fn arcalloc_deallocate(allocator: *mut Allocator, block: Block) -> i32;
    fn arcalloc_deallocate_address(allocator: *mut Allocator, address: *mut c_void) -> i32;
    fn arcalloc_deallocate_address_sized(allocator: *mut Allocator, address: *mut c_void, bytes: usize) -> i32;
    fn arcalloc_deallocate_on(allocator: *mut Allocator, block: Block, stream: u64) -> i32;
    fn arcalloc_deallocate_address_on(allocator: *mut Allocator, address: *mut c_void, stream: u64) -> i32;
    fn arcalloc_note_use(allocator: *mut Allocator, block: Block, stream: u64) -> i32;
    fn arcalloc_note_use_address(allocator: *mut Allocator, address: *mut c_void, stream: u64) -> i32;
    fn arcalloc_end_stream(allocator: *mut Allocator, stream: u64) -> i32;
    fn arcalloc_this_thread_stream() -> u64;
    fn arcalloc_begin_capture(allocator: *mut Allocator, stream: u64, options: *const CaptureOptions) -> i32;
    fn arcalloc_join_capture(allocator: *mut Allocator, joining: u64, capturing: u64) -> i32;
    fn arcalloc_end_capture(allocator: *mut Allocator, stream: u64, out: *mut u64) -> i32;
    fn arcalloc_abort_capture(allocator: *mut Allocator, stream: u64) -> i32;
    fn arcalloc_note_replay(allocator: *mut Allocator, graph: u64, stream: u64) -> i32;
    fn arcalloc_release_graph(allocator: *mut Allocator, graph: u64) -> i32;
    fn arcalloc_is_capturing(allocator: *const Allocator, stream: u64, out: *mut i32) -> i32;
    fn arcalloc_read_capture_misses(
        allocator: *const Allocator,
        out: *mut CaptureMiss,
        capacity: usize,
        count: *mut usize,
    ) -> i32;
    fn arcalloc_profile_create(out: *mut *mut Profile) -> i32;
    fn arcalloc_profile_destroy(profile: *mut Profile);
    fn arcalloc_profile_add(profile: *mut Profile, entry: *const ProfileEntry) -> i32;
    fn arcalloc_profile_entries(
        profile: *const Profile,
        out: *mut ProfileEntry,
        capacity: usize,
        count: *mut usize,
    ) -> i32;
    fn arcalloc_profile_rename_stream(profile: *mut Profile, from: u64, to: u64) -> i32;
    fn arcalloc_profile_read(profile: *mut Profile, path: *const c_char, text: *mut c_char, capacity: usize) -> i32;
    fn arcalloc_profile_write(
        profile: *const Profile,
        path: *const c_char,
        text: *mut c_char,
        capacity: usize,
    ) -> i32;
    fn arcalloc_begin_profile(allocator: *mut Allocator) -> i32;
    fn arcalloc_end_profile(allocator: *mut Allocator, out: *mut Profile) -> i32;
    fn arcalloc_prewarm(allocator: *mut Allocator, wanted: *const Profile, missing: *mut Profile) -> i32;
    fn arcalloc_verify(allocator: *const Allocator, wanted: *const Profile, missing: *mut Profile) -> i32;
    fn arcalloc_begin_recording(allocator: *mut Allocator, sink: *const RecordingSink) -> i32;
    fn arcalloc_record_to(allocator: *mut Allocator, path: *const c_char) -> i32;
    fn arcalloc_flush_recording(allocator: *mut Allocator) -> i32;
    fn arcalloc_end_recording(allocator: *mut Allocator) -> i32;
    fn arcalloc_read_recording(allocator: *const Allocator, out: *mut RecordingState) -> i32;
    fn arcalloc_begin_phase(allocator: *mut Allocator, next: i32) -> i32;
    fn arcalloc_current_phase(allocator: *const Allocator, out: *mut i32) -> i32;
    fn arcalloc_end_step(allocator: *mut Allocator) -> i32;
    fn arcalloc_trim(allocator: *mut Allocator, cached_bytes_target: u64) -> i32;
    fn arcalloc_drain(allocator: *mut Allocator) -> i32;
    fn arcalloc_set_enabled(allocator: *mut Allocator, enabled: i32) -> i32;
    fn arcalloc_set_cached_bytes_max(allocator: *mut Allocator, mode: i32, bytes: u64) -> i32;
    fn arcalloc_set_capacity_bytes(allocator: *mut Allocator, bytes: u64) -> i32;
    fn arcalloc_read_counters(allocator: *const Allocator, out: *mut Counters) -> i32;
    fn arcalloc_read_step_counters(allocator: *const Allocator, out: *mut Counters) -> i32;
    fn arcalloc_reset_peaks(allocator: *mut Allocator) -> i32;
    fn arcalloc_read_cap(allocator: *const Allocator, out: *mut CapArithmetic) -> i32;
    fn arcalloc_last_failure(allocator: *const Allocator, out: *mut Failure) -> i32;
    fn arcalloc_locate(allocator: *const Allocator, address: *const c_void, out: *mut SegmentExtent) -> i32;
    fn arcalloc_counters_between(before: *const Counters, now: *const Counters, out: *mut Counters) -> i32;
    fn arcalloc_failure_text(failure: *const Failure, text: *mut c_char, capacity: usize) -> c_int;
    fn arcalloc_step_report_text(window: *const Counters, steps: u64, text: *mut c_char, capacity: usize) -> c_int;
    fn arcalloc_counters_json(counters: *const Counters, text: *mut c_char, capacity: usize) -> c_int;
    fn arcalloc_metrics_text(
        counters: *const *const Counters,
        labels: *const *const c_char,
        count: usize,
        text: *mut c_char,
        capacity: usize,
    ) -> c_int;
}
