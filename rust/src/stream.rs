// SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use std::os::raw::c_void;

/// A queue of work on the device, by its identity: a number that is never followed. Values with the highest bit set are
/// the library's own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(transparent)]
pub struct Stream(pub u64);

impl Stream {
    /// The default stream.
    pub const DEFAULT: Stream = Stream(0);
    /// The calling thread's own default stream: in two threads two streams.
    pub const PER_THREAD: Stream = Stream(ffi::PER_THREAD_STREAM);

    /// What [`Stream::PER_THREAD`] means on the calling thread, as a value that means the same on every thread.
    #[must_use]
    pub fn of_this_thread() -> Stream {
        // SAFETY: asks for nothing.
        Stream(unsafe { ffi::arcalloc_this_thread_stream() })
    }

    /// The stream behind a driver's pointer, such as a `CUstream`. CUDA's default streams have several handles each:
    /// 1 is the legacy one, like 0, and 2 the calling thread's own.
    #[must_use]
    pub fn from_pointer(stream: *mut c_void) -> Stream {
        match stream as u64 {
            1 => Stream::DEFAULT,
            2 => Stream::PER_THREAD,
            handle => Stream(handle),
        }
    }
}
