// SPDX-License-Identifier: Apache-2.0
use crate::callback::Sink;
use crate::error::check;
use crate::{ffi, Block, Bound, Device, Error, Options, Stream};
use std::os::raw::c_void;
use std::ptr::null_mut;
use std::sync::Arc;

/// What the engine is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// Prefill chunks and decode steps share a pass; a new allocator is in this phase.
    Mixed,
    /// Every request goes to the driver, and what is freed goes back at once.
    Prefill,
    /// Steps that ask for the same sizes again and again.
    Decode,
}

/// A bounded cache of device memory, in front of a device.
///
/// Any thread may call it, several at once. Dropped, it gives everything back to the driver. Blocks are made by
/// [`allocate`](Allocator::allocate), which borrows it, or by [`allocate_shared`](Allocator::allocate_shared), whose
/// blocks keep it.
pub struct Allocator {
    raw: *mut ffi::Allocator,
    device: Device,
    /// What C's context points to: it goes after the allocator.
    _sink: Option<Arc<Sink>>,
}

// SAFETY: every function of the header may be called from any thread, several at once; a sink is Send and Sync.
unsafe impl Send for Allocator {}
unsafe impl Sync for Allocator {}

impl Allocator {
    /// Over a device, which it keeps.
    pub fn new(device: &Device, options: &Options) -> Result<Allocator, Error> {
        let mut raw = null_mut();
        // SAFETY: a live device; the options and what they point to live during the call, and the sink as long as this.
        check(unsafe { ffi::arcalloc_create(device.as_raw(), &options.for_c(), &mut raw) })?;
        Ok(Allocator { raw, device: device.clone(), _sink: options.sink.clone() })
    }

    /// At least so many bytes for work on the stream.
    #[inline]
    pub fn allocate(&self, bytes: usize, stream: Stream) -> Result<Block<&Allocator>, Error> {
        Block::allocate(self, bytes, stream)
    }

    /// The same, in a block that keeps the allocator. That costs an atomic count on the way of a hit.
    #[inline]
    pub fn allocate_shared(self: &Arc<Self>, bytes: usize, stream: Stream) -> Result<Block<Arc<Allocator>>, Error> {
        Block::allocate(Arc::clone(self), bytes, stream)
    }

    /// Gives back what [`Block::into_token`] took apart.
    ///
    /// # Safety
    /// The token is one of this allocator's, and no [`Block`] has it any more.
    pub unsafe fn deallocate_token(&self, token: ffi::Block) -> Result<(), Error> {
        // SAFETY: as the caller says.
        check(unsafe { ffi::arcalloc_deallocate(self.raw, token) })
    }

    /// Gives back by address, at the cost of one lookup; an address that is not ours, and a second free, are refused.
    ///
    /// # Safety
    /// No [`Block`] has this address any more.
    pub unsafe fn deallocate_address(&self, address: *mut c_void) -> Result<(), Error> {
        // SAFETY: any address is looked up.
        check(unsafe { ffi::arcalloc_deallocate_address(self.raw, address) })
    }

    /// The stream goes away: called before the driver destroys it.
    pub fn end_stream(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: a live allocator, as in all that follow.
        check(unsafe { ffi::arcalloc_end_stream(self.raw, stream.0) })
    }

    /// Enters a phase; entering the present one does nothing.
    pub fn begin_phase(&self, next: Phase) -> Result<(), Error> {
        let next = match next {
            Phase::Mixed => ffi::PHASE_MIXED,
            Phase::Prefill => ffi::PHASE_PREFILL,
            Phase::Decode => ffi::PHASE_DECODE,
        };
        check(unsafe { ffi::arcalloc_begin_phase(self.raw, next) })
    }

    /// The present phase.
    pub fn phase(&self) -> Result<Phase, Error> {
        let mut found = ffi::PHASE_MIXED;
        check(unsafe { ffi::arcalloc_current_phase(self.raw, &mut found) })?;
        match found {
            ffi::PHASE_PREFILL => Ok(Phase::Prefill),
            ffi::PHASE_DECODE => Ok(Phase::Decode),
            _ => Ok(Phase::Mixed),
        }
    }

    /// Ends a step: the window of [`step_counters`](Allocator::step_counters), and of reports.
    pub fn end_step(&self) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_end_step(self.raw) })
    }

    /// Gives idle memory back until `cached_bytes` is at most the target. Never waits.
    pub fn trim(&self, cached_bytes_target: u64) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_trim(self.raw, cached_bytes_target) })
    }

    /// Gives all idle memory back. Waits for pending work.
    pub fn drain(&self) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_drain(self.raw) })
    }

    /// Switches the cache on, or off with a drain.
    pub fn set_enabled(&self, enabled: bool) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_set_enabled(self.raw, i32::from(enabled)) })
    }

    /// Sets the bound on cached bytes, and obeys it before returning.
    pub fn set_cached_bytes_max(&self, bound: Bound) -> Result<(), Error> {
        let (mode, bytes) = bound.as_c();
        check(unsafe { ffi::arcalloc_set_cached_bytes_max(self.raw, mode, bytes) })
    }

    /// Sets the bound on reserved bytes; 0: none. `CapacityExceeded`, and no change, when live blocks stand in the way.
    pub fn set_capacity_bytes(&self, bytes: u64) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_set_capacity_bytes(self.raw, bytes) })
    }

    /// What it stands on.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// The C object, which stays this allocator's.
    #[inline]
    #[must_use]
    pub fn as_raw(&self) -> *mut ffi::Allocator {
        self.raw
    }
}

impl Drop for Allocator {
    fn drop(&mut self) {
        // SAFETY: made by `create`; borrowed blocks are gone, and shared ones would have kept it.
        unsafe { ffi::arcalloc_destroy(self.raw) };
    }
}
