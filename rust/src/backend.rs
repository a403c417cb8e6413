// SPDX-License-Identifier: Apache-2.0
use crate::callback::without_unwinding;
use crate::{ffi, Error, MemoryInfo, Stream};
use std::ffi::CString;
use std::os::raw::c_void;

/// A device of your own, to the contract of docs/porting.md.
///
/// Called on misses, evictions and bounds, never on a hit; from any thread, several at once. `allocate`, `free`,
/// `query_memory` and `wait_event` may block, the others must not. A failure leaves the device as it was. A panic ends
/// the process. A device that is [`synchronous`](Backend::synchronous) needs no events.
///
/// # Safety
///
/// What `allocate` lends is nobody else's until `free` takes it back, and its address is a multiple of `granularity`
/// and of 512.
pub unsafe trait Backend: Send + Sync + 'static {
    /// For reports; up to 63 bytes.
    fn name(&self) -> &str {
        "caller"
    }
    /// A power of two: every size asked for is a multiple of it.
    fn granularity(&self) -> u64;
    /// Lends memory for work on a stream: `DeviceOutOfMemory`, or `BackendFailed`.
    fn allocate(&self, bytes: usize, stream: Stream) -> Result<*mut c_void, Error>;
    /// Takes back exactly what was lent.
    fn free(&self, address: *mut c_void, bytes: usize) -> Result<(), Error>;
    /// Free and total bytes, as the driver sees them now.
    fn query_memory(&self) -> Result<MemoryInfo, Error>;
    /// Whether work is done when the call that asks for it returns: then the rest is never called.
    fn synchronous(&self) -> bool {
        false
    }
    /// A point after all work enqueued on the stream so far; never 0.
    fn record_event(&self, _stream: Stream) -> Result<u64, Error> {
        Err(Error::BackendFailed)
    }
    /// Whether that work has finished.
    fn query_event(&self, _event: u64) -> Result<bool, Error> {
        Err(Error::BackendFailed)
    }
    /// Returns when it has.
    fn wait_event(&self, _event: u64) -> Result<(), Error> {
        Err(Error::BackendFailed)
    }
    /// The event is given back.
    fn drop_event(&self, _event: u64) {}
    /// Whether `allocate_beside_capture` can.
    fn lends_beside_capture(&self) -> bool {
        false
    }
    /// `allocate` while the stream is being captured, beside the capture.
    fn allocate_beside_capture(&self, _bytes: usize, _stream: Stream) -> Result<*mut c_void, Error> {
        Err(Error::BackendFailed)
    }
}

/// The C struct for a backend, whose `name` it copies. `context` is a `B` that outlives what is made of the struct.
pub(crate) fn as_c<B: Backend>(backend: &B, name: &CString, context: *const B) -> ffi::Backend {
    let mut made = ffi::Backend::new();
    made.synchronous = u32::from(backend.synchronous());
    made.granularity = backend.granularity();
    made.name = name.as_ptr();
    made.context = context as *mut c_void;
    made.allocate = Some(allocate::<B>);
    made.free = Some(free::<B>);
    made.query_memory = Some(query_memory::<B>);
    made.record_event = Some(record_event::<B>);
    made.query_event = Some(query_event::<B>);
    made.wait_event = Some(wait_event::<B>);
    made.drop_event = Some(drop_event::<B>);
    if backend.lends_beside_capture() {
        made.allocate_beside_capture = Some(allocate_beside_capture::<B>);
    }
    made
}

/// Calls the backend, and gives what it answers to C: a status, and the value where there is one.
///
/// # Safety
/// `context` is a live `B`, `out` is writable.
unsafe fn answer<B: Backend, T>(context: *mut c_void, out: *mut T, call: impl FnOnce(&B) -> Result<T, Error>) -> i32 {
    // SAFETY: as the caller says.
    let backend = unsafe { &*context.cast::<B>() };
    match without_unwinding(|| call(backend)) {
        Ok(value) => {
            // SAFETY: as the caller says.
            unsafe { out.write(value) };
            ffi::OK
        }
        Err(error) => error.status(),
    }
}

// The functions that C calls. Each is handed the context of `as_c`, and outputs as the header says.

unsafe extern "C" fn allocate<B: Backend>(at: *mut c_void, bytes: usize, stream: u64, out: *mut *mut c_void) -> i32 {
    unsafe { answer(at, out, |backend: &B| backend.allocate(bytes, Stream(stream))) }
}

unsafe extern "C" fn allocate_beside_capture<B: Backend>(
    at: *mut c_void,
    bytes: usize,
    stream: u64,
    out: *mut *mut c_void,
) -> i32 {
    unsafe { answer(at, out, |backend: &B| backend.allocate_beside_capture(bytes, Stream(stream))) }
}

unsafe extern "C" fn free<B: Backend>(at: *mut c_void, address: *mut c_void, bytes: usize) -> i32 {
    unsafe { answer(at, &mut (), |backend: &B| backend.free(address, bytes)) }
}

unsafe extern "C" fn query_memory<B: Backend>(at: *mut c_void, free_bytes: *mut u64, total_bytes: *mut u64) -> i32 {
    let mut found = MemoryInfo { free_bytes: 0, total_bytes: 0 };
    let status = unsafe { answer(at, &mut found, |backend: &B| backend.query_memory()) };
    if status == ffi::OK {
        unsafe {
            free_bytes.write(found.free_bytes);
            total_bytes.write(found.total_bytes);
        }
    }
    status
}

unsafe extern "C" fn record_event<B: Backend>(at: *mut c_void, stream: u64, out: *mut u64) -> i32 {
    unsafe { answer(at, out, |backend: &B| backend.record_event(Stream(stream))) }
}

unsafe extern "C" fn query_event<B: Backend>(at: *mut c_void, event: u64, out: *mut i32) -> i32 {
    unsafe { answer(at, out, |backend: &B| backend.query_event(event).map(i32::from)) }
}

unsafe extern "C" fn wait_event<B: Backend>(at: *mut c_void, event: u64) -> i32 {
    unsafe { answer(at, &mut (), |backend: &B| backend.wait_event(event)) }
}

unsafe extern "C" fn drop_event<B: Backend>(at: *mut c_void, event: u64) {
    let backend = unsafe { &*at.cast::<B>() };
    without_unwinding(|| backend.drop_event(event));
}
