// SPDX-License-Identifier: Apache-2.0
use crate::block::Holder;
use crate::error::check;
use crate::ffi::CaptureMiss;
use crate::{ffi, Allocator, Error, Stream};
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::thread::panicking;

/// What a request meets in a capture window when nothing idle will do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePolicy {
    /// As the allocator's options say.
    AsConfigured,
    /// The driver is asked, beside the capture.
    Grow,
    /// `CaptureMiss`, and the window stays valid.
    Refuse,
}

impl CapturePolicy {
    pub(crate) fn as_c(self) -> i32 {
        match self {
            CapturePolicy::AsConfigured => ffi::CAPTURE_AS_CONFIGURED,
            CapturePolicy::Grow => ffi::CAPTURE_GROW,
            CapturePolicy::Refuse => ffi::CAPTURE_REFUSE,
        }
    }
}

/// A window around the driver's capture of a stream: begun before it, ended after it. What is allocated, freed or named
/// in it is pinned to the graph. Dropped, it is aborted. docs/graph_capture.md has the order of calls.
pub struct Window<H: Holder> {
    stream: Stream,
    holder: H,
}

/// A captured graph, as the allocator knows it. Dropped, what it pins is let go of: so drop it only when the driver's
/// graph is gone. [`give_up`](Graph::give_up) does the same and says how it went, where a drop panics when the host has
/// no memory for it.
pub struct Graph<H: Holder> {
    id: u64,
    holder: H,
}

impl<H: Holder> Window<H> {
    fn begin(holder: H, stream: Stream, policy: CapturePolicy, pool_group: u64) -> Result<Window<H>, Error> {
        let mut how = ffi::CaptureOptions::new();
        how.policy = policy.as_c();
        how.pool_group = pool_group;
        // SAFETY: a live allocator and a whole struct; as in all that follow.
        check(unsafe { ffi::arcalloc_begin_capture(holder.allocator().as_raw(), stream.0, &how) })?;
        Ok(Window { stream, holder })
    }

    /// `joining` waits on the captured stream: its work is part of the same graph.
    pub fn join(&self, joining: Stream) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_join_capture(self.holder.allocator().as_raw(), joining.0, self.stream.0) })
    }

    /// Closes the window; what it touched is pinned until the graph is dropped.
    pub fn end(self) -> Result<Graph<H>, Error> {
        let mut id = 0;
        check(unsafe { ffi::arcalloc_end_capture(self.holder.allocator().as_raw(), self.stream.0, &mut id) })?;
        Ok(Graph { id, holder: self.into_holder() })
    }

    /// Closes the window, and pins nothing. What a drop would do, with the outcome.
    pub fn abort(self) -> Result<(), Error> {
        let outcome = check(unsafe { ffi::arcalloc_abort_capture(self.holder.allocator().as_raw(), self.stream.0) });
        drop(self.into_holder());
        outcome
    }

    fn into_holder(self) -> H {
        let this = ManuallyDrop::new(self);
        // SAFETY: taken out once, of what is never dropped.
        unsafe { std::ptr::read(&this.holder) }
    }
}

impl<H: Holder> Drop for Window<H> {
    fn drop(&mut self) {
        let outcome = check(unsafe { ffi::arcalloc_abort_capture(self.holder.allocator().as_raw(), self.stream.0) });
        assert!(outcome.is_ok() || panicking(), "arcalloc: a capture window was closed by somebody else");
    }
}

impl<H: Holder> Graph<H> {
    /// Its number in C.
    #[must_use]
    pub fn id(&self) -> u64 {
        self.id
    }

    /// It was launched on `stream`: where that is not the stream of its capture, its end waits for it.
    pub fn note_replay(&self, stream: Stream) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_note_replay(self.holder.allocator().as_raw(), self.id, stream.0) })
    }

    /// Lets go of what it pins. What a drop would do, with the outcome.
    pub fn give_up(self) -> Result<(), Error> {
        let this = ManuallyDrop::new(self);
        let outcome = check(unsafe { ffi::arcalloc_release_graph(this.holder.allocator().as_raw(), this.id) });
        // SAFETY: taken out once, of what is never dropped.
        drop(unsafe { std::ptr::read(&this.holder) });
        outcome
    }
}

impl<H: Holder> Drop for Graph<H> {
    fn drop(&mut self) {
        let outcome = check(unsafe { ffi::arcalloc_release_graph(self.holder.allocator().as_raw(), self.id) });
        if let Err(error) = outcome {
            assert!(panicking(), "arcalloc: a graph could not be let go of: {error}");
        }
    }
}

impl Allocator {
    /// Opens a window. Windows of one pool group share what only replays touch; 0: a group of its own.
    pub fn begin_capture(
        &self,
        stream: Stream,
        policy: CapturePolicy,
        pool_group: u64,
    ) -> Result<Window<&Allocator>, Error> {
        Window::begin(self, stream, policy, pool_group)
    }

    /// The same; the window, and the graph that comes of it, keep the allocator.
    pub fn begin_capture_shared(
        self: &Arc<Self>,
        stream: Stream,
        policy: CapturePolicy,
        pool_group: u64,
    ) -> Result<Window<Arc<Allocator>>, Error> {
        Window::begin(Arc::clone(self), stream, policy, pool_group)
    }

    /// Whether the stream is in a window.
    pub fn is_capturing(&self, stream: Stream) -> Result<bool, Error> {
        let mut found = 0;
        check(unsafe { ffi::arcalloc_is_capturing(self.as_raw(), stream.0, &mut found) })?;
        Ok(found != 0)
    }

    /// What missed in the open or the last window.
    pub fn capture_misses(&self) -> Result<Vec<CaptureMiss>, Error> {
        elements(ffi::CaptureMiss::zeroed(), |out, capacity, count| unsafe {
            ffi::arcalloc_read_capture_misses(self.as_raw(), out, capacity, count)
        })
    }
}

/// An array that C writes into our room, as many as fit, and says how many there are.
pub(crate) fn elements<T: Copy>(none: T, read: impl Fn(*mut T, usize, *mut usize) -> i32) -> Result<Vec<T>, Error> {
    let mut found = Vec::new();
    loop {
        let mut count = 0;
        check(read(found.as_mut_ptr(), found.len(), &mut count))?;
        let whole = count <= found.len();
        found.resize(count, none);
        if whole {
            return Ok(found);
        }
    }
}
