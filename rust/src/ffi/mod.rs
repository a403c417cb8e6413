// SPDX-License-Identifier: Apache-2.0
//! `arcalloc/arcalloc.h` and what it includes, as they are: structs, constants and functions, by their names in C.
//!
//! Everything else in this crate is made of these; use them for what it does not offer. The conventions are numbered
//! at the top of the header. `tests/header.rs` has a C compiler compare each size, offset, type, value and prototype
//! here with the header, and finds what the header has and this has not.

mod functions;
mod structs;

pub use functions::*;
pub use structs::*;

use std::os::raw::c_void;

/// A field of a struct: its name in C, where it begins, how long it is, and its type in Rust.
#[derive(Clone, Debug)]
pub struct Field {
    /// The name, the same in C.
    pub name: &'static str,
    /// Bytes from the struct's start.
    pub offset: usize,
    /// Bytes.
    pub size: usize,
    /// As it is written here.
    pub kind: &'static str,
}

macro_rules! opaque {
    ($($(#[$about:meta])* $name:ident)*) => { $(
        $(#[$about])*
        #[repr(C)]
        pub struct $name {
            _nothing: [u8; 0],
            _only_behind_pointers: std::marker::PhantomData<*mut c_void>,
        }
    )* };
}

opaque! {
    /// `arcalloc_device`
    Device
    /// `arcalloc_allocator`
    Allocator
    /// `arcalloc_profile`
    Profile
}

macro_rules! constants {
    ($($kind:ty { $($name:ident = $value:expr,)* })*) => {
        $($(
            #[doc = concat!("`ARCALLOC_", stringify!($name), "`")]
            pub const $name: $kind = $value;
        )*)*
        /// Every constant: its name in C without `ARCALLOC_`, and its value.
        pub const CONSTANTS: &[(&str, u64)] = &[$($((stringify!($name), $name as u64),)*)*];
    };
}

constants! {
    u32 {
        ABI_VERSION = 1,
        STRUCT_SIZE_MAX = 4096,
        COUNTERS_VERSION = 1,
    }
    u64 {
        PER_THREAD_STREAM = u64::MAX,
        NO_BOUND = u64::MAX,
        CAP_EXPLICIT = 0,
        CAP_ENVIRONMENT = 1,
        CAP_DERIVED = 2,
        CAP_FALLBACK = 3,
        CAP_UNBOUNDED = 4,
    }
    i32 {
        OK = 0,
        INVALID_ARGUMENT = 1,
        REQUEST_TOO_LARGE = 2,
        CAPACITY_EXCEEDED = 3,
        DEVICE_OUT_OF_MEMORY = 4,
        CAPTURE_MISS = 5,
        UNKNOWN_POINTER = 6,
        DOUBLE_FREE = 7,
        BACKEND_UNAVAILABLE = 8,
        BACKEND_FAILED = 9,
        SHUTTING_DOWN = 10,
        RECORDED_ALLOCATE = 0,
        RECORDED_FREE = 1,
        RECORDED_USE = 2,
        RECORDED_REFUSAL = 3,
        RECORDED_STEP = 4,
        RECORDED_PHASE = 5,
        RECORDED_CAPTURE_BEGIN = 6,
        RECORDED_CAPTURE_JOIN = 7,
        RECORDED_CAPTURE_END = 8,
        RECORDED_CAPTURE_ABORT = 9,
        RECORDED_GRAPH_LAUNCH = 10,
        RECORDED_GRAPH_FORGET = 11,
        RECORDED_STREAM_END = 12,
        RECORDED_TRIM = 13,
        RECORDED_DRAIN = 14,
        RECORDED_SEGMENT_ALLOCATE = 15,
        RECORDED_SEGMENT_FREE = 16,
        PHASE_MIXED = 0,
        PHASE_PREFILL = 1,
        PHASE_DECODE = 2,
        GEOMETRY_8 = 0,
        GEOMETRY_1 = 1,
        GEOMETRY_2 = 2,
        GEOMETRY_4 = 3,
        GEOMETRY_16 = 4,
        GEOMETRY_EXACT = 5,
        BOUND_DERIVED = 0,
        BOUND_EXPLICIT = 1,
        BOUND_UNBOUNDED = 2,
        SWITCH_DEFAULT = 0,
        SWITCH_ON = 1,
        SWITCH_OFF = 2,
        SEVERITY_WARNING = 0,
        SEVERITY_ERROR = 1,
        CAPTURE_AS_CONFIGURED = 0,
        CAPTURE_GROW = 1,
        CAPTURE_REFUSE = 2,
        CUDA_CONTEXT_PRIMARY = 0,
        CUDA_CONTEXT_CURRENT = 1,
        CUDA_SOURCE_DRIVER = 0,
        CUDA_SOURCE_STREAM_ORDERED = 1,
    }
}
