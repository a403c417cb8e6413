// SPDX-License-Identifier: Apache-2.0
//! The crate as an engine uses it, and its declarations against the header.

mod blocks;
mod captures;
mod devices;
mod errors;
mod header;
mod recordings;
mod settings;

use arcalloc::{Allocator, Counters, Device, Options};

pub const MIB: u64 = 1 << 20;

/// An allocator as shipped over 64 MiB of host memory.
pub fn as_shipped() -> Allocator {
    with(&Options::new())
}

pub fn with(options: &Options) -> Allocator {
    let device = Device::host(64 * MIB).expect("a host device");
    Allocator::new(&device, options).expect("an allocator")
}

/// The identities, at quiescence.
pub fn assert_adds_up(now: &Counters) {
    assert_eq!(now.requests, now.hits + now.misses + now.bypassed + now.failed);
    let parts =
        [now.allocated_bytes, now.pending_bytes, now.cached_bytes, now.slack_bytes, now.pinned_bytes, now.stuck_bytes];
    assert_eq!(now.reserved_bytes, parts.iter().sum::<u64>());
    assert_eq!(now.driver_allocs - now.driver_frees, now.segments_reserved);
}
