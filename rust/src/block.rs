// SPDX-License-Identifier: Apache-2.0
use crate::error::check;
use crate::{ffi, Allocator, Error, Stream};
use std::fmt;
use std::mem::ManuallyDrop;
use std::os::raw::c_void;
use std::sync::Arc;
use std::thread::panicking;

mod sealed {
    /// Always the same allocator, for as long as the holder is there.
    pub trait Sealed {}
    impl Sealed for &crate::Allocator {}
    impl Sealed for std::sync::Arc<crate::Allocator> {}
}

/// How a [`Block`], a [`Window`](crate::Window) or a [`Graph`](crate::Graph) keeps its allocator: `&Allocator`, which
/// costs nothing, or `Arc<Allocator>`, which lets it be stored anywhere.
pub trait Holder: sealed::Sealed {
    /// The allocator that is held.
    fn allocator(&self) -> &Allocator;
}

impl Holder for &Allocator {
    #[inline]
    fn allocator(&self) -> &Allocator {
        self
    }
}

impl Holder for Arc<Allocator> {
    #[inline]
    fn allocator(&self) -> &Allocator {
        self
    }
}

/// One piece of device memory, given back when it is dropped: work enqueued before on its own stream may still use it.
///
/// The address is the device's. On a host device it may be followed, in `unsafe` code, as long as the block lives; its
/// bytes are not initialised. A block of 0 bytes is no block: its address is null.
///
/// ```compile_fail,E0505
/// # use arcalloc::{Allocator, Device, Options, Stream};
/// # fn outlive(memory: Allocator) {
/// let block = memory.allocate(512, Stream::DEFAULT).unwrap();
/// drop(memory); // the block borrows it
/// drop(block);
/// # }
/// ```
pub struct Block<H: Holder> {
    token: ffi::Block,
    bytes: usize,
    stream: Stream,
    holder: H,
}

// SAFETY: the token is two words that mean the same on every thread, and any thread may give the block back.
unsafe impl<H: Holder + Send> Send for Block<H> {}
unsafe impl<H: Holder + Sync> Sync for Block<H> {}

impl<H: Holder> Block<H> {
    #[inline]
    pub(crate) fn allocate(holder: H, bytes: usize, stream: Stream) -> Result<Block<H>, Error> {
        let mut token = ffi::Block::zeroed();
        // SAFETY: a live allocator, an output of ours.
        check(unsafe { ffi::arcalloc_allocate(holder.allocator().as_raw(), bytes, stream.0, &mut token) })?;
        Ok(Block { token, bytes, stream, holder })
    }

    /// Where it begins, aligned to 512; null for 0 bytes.
    #[inline]
    #[must_use]
    pub fn as_ptr(&self) -> *mut c_void {
        self.token.address
    }

    /// As requested.
    #[inline]
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// As requested.
    #[inline]
    #[must_use]
    pub fn stream(&self) -> Stream {
        self.stream
    }

    /// Says that work on `stream`, another than its own, uses it: given back, it is pending until that has passed.
    pub fn note_use(&self, stream: Stream) -> Result<(), Error> {
        // SAFETY: a live block of a live allocator.
        check(unsafe { ffi::arcalloc_note_use(self.holder.allocator().as_raw(), self.token, stream.0) })
    }

    /// Gives it back. What a drop would do, with the outcome.
    pub fn free(self) -> Result<(), Error> {
        // SAFETY: a block of that allocator, which nobody frees again.
        self.end_with(|raw, token| check(unsafe { ffi::arcalloc_deallocate(raw, token) }))
    }

    /// Gives it back, ordered on `stream`; where that is not its own, it implies `note_use` there.
    pub fn free_on(self, stream: Stream) -> Result<(), Error> {
        // SAFETY: as in `free`.
        self.end_with(|raw, token| check(unsafe { ffi::arcalloc_deallocate_on(raw, token, stream.0) }))
    }

    /// The token in C, with the duty to give it back: by [`Allocator::deallocate_token`], or in C. It dies with its
    /// allocator, which it does not hold.
    #[must_use]
    pub fn into_token(self) -> ffi::Block {
        self.end_with(|_, token| token)
    }

    /// Calls instead of dropping, and lets go of the allocator afterwards.
    fn end_with<T>(self, call: impl FnOnce(*mut ffi::Allocator, ffi::Block) -> T) -> T {
        let this = ManuallyDrop::new(self);
        let outcome = call(this.holder.allocator().as_raw(), this.token);
        // SAFETY: taken out once, of what is never dropped.
        drop(unsafe { std::ptr::read(&this.holder) });
        outcome
    }
}

impl<H: Holder> Drop for Block<H> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: a live block of a live allocator, which nobody frees again.
        let outcome = check(unsafe { ffi::arcalloc_deallocate(self.holder.allocator().as_raw(), self.token) });
        if let Err(error) = outcome {
            assert!(panicking(), "arcalloc: a block could not be given back: {error}");
        }
    }
}

impl<H: Holder> fmt::Debug for Block<H> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Block")
            .field("address", &self.token.address)
            .field("bytes", &self.bytes)
            .field("stream", &self.stream.0)
            .finish()
    }
}
