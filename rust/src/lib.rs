// SPDX-License-Identifier: Apache-2.0
//! arcalloc, a bounded caching allocator for device memory made for LLM decode, for Rust.
//!
//! ```
//! use arcalloc::{Allocator, Device, Options, Stream};
//!
//! let device = Device::host(1 << 30)?;
//! let memory = Allocator::new(&device, &Options::new())?;
//! for position in 1..=64 {
//!     let scores = memory.allocate(64 * position, Stream::DEFAULT)?;
//!     // ... work on the default stream that uses scores.as_ptr() ...
//!     drop(scores);
//!     memory.end_step()?;
//! }
//! assert_eq!(memory.counters().requests, 64);
//! # Ok::<(), arcalloc::Error>(())
//! ```
//!
//! It is the C interface made safe, and without dependencies: what must be given back is given back by a drop, and an
//! object lives as long as what stands on it. [`ffi`] is that interface as it is. docs/rust.md is the page about it.
//!
//! A hit costs what it costs in C: no lock, no driver call, nothing on the heap. Nothing here caches or counts. What is
//! not offered: device memory as slices (it is the device's), and Rust's own `GlobalAlloc`.
#![warn(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod allocator;
mod backend;
mod block;
mod callback;
mod capture;
mod device;
mod error;
pub mod ffi;
mod options;
mod profile;
mod readings;
mod recording;
mod stream;

pub use allocator::{Allocator, Phase};
pub use backend::Backend;
pub use block::{Block, Holder};
pub use capture::{CapturePolicy, Graph, Window};
pub use device::{Device, MemoryInfo};
pub use error::Error;
pub use ffi::{CapArithmetic, CaptureMiss, Counters, Failure, ProfileEntry, NO_BOUND};
pub use options::{Bound, Geometry, Options, Severity};
pub use profile::{Profile, ProfileError};
pub use readings::{built_as, metrics, Build, SegmentExtent};
pub use recording::Recording;
pub use stream::Stream;
