// SPDX-License-Identifier: Apache-2.0
use std::ffi::CStr;
use std::os::raw::{c_char, c_void};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::process::abort;

/// Runs what C called. A panic must not cross C++ frames that know nothing of it, so it ends the process.
pub(crate) fn without_unwinding<T>(call: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|_| abort())
}

/// Where reports go. Behind a pointer of one word, which C hands back as its context.
pub(crate) struct Sink(pub Box<dyn Fn(&str) + Send + Sync>);

/// # Safety
/// `context` is a live [`Sink`], `line` a text that ends with a zero.
pub(crate) unsafe extern "C" fn pass_line(context: *mut c_void, line: *const c_char) {
    // SAFETY: as the caller says.
    let (sink, line) = unsafe { (&*context.cast::<Sink>(), CStr::from_ptr(line)) };
    without_unwinding(|| (sink.0)(&line.to_string_lossy()));
}
