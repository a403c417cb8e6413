// SPDX-License-Identifier: Apache-2.0
use crate::ffi;
use std::ffi::CStr;
use std::fmt;
use std::os::raw::c_char;

/// Why a call was refused; docs/statuses.md says what to do about each. Refused, a call leaves live blocks, bounds and
/// settings as they were.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Error {
    /// An argument contradicts the call.
    InvalidArgument,
    /// More than 2^47 bytes.
    RequestTooLarge,
    /// Our own bound on reserved bytes refuses.
    CapacityExceeded,
    /// The driver refuses, and nothing we hold could make room.
    DeviceOutOfMemory,
    /// A request in a capture window that needs the driver; or what a profile wants is not there.
    CaptureMiss,
    /// Not the start of a block of this allocator.
    UnknownPointer,
    /// The block is idle already.
    DoubleFree,
    /// No such device or driver on this machine.
    BackendUnavailable,
    /// The driver, or host memory for bookkeeping, failed otherwise.
    BackendFailed,
    /// The driver is unloading.
    ShuttingDown,
    /// A status that this crate does not know: of a newer library.
    Unlisted(i32),
}

impl Error {
    /// Every status but `ok`, in the order of their numbers.
    pub const ALL: [Error; 10] = [
        Error::InvalidArgument,
        Error::RequestTooLarge,
        Error::CapacityExceeded,
        Error::DeviceOutOfMemory,
        Error::CaptureMiss,
        Error::UnknownPointer,
        Error::DoubleFree,
        Error::BackendUnavailable,
        Error::BackendFailed,
        Error::ShuttingDown,
    ];

    /// The number in C.
    #[must_use]
    pub fn status(self) -> i32 {
        match self {
            Error::InvalidArgument => ffi::INVALID_ARGUMENT,
            Error::RequestTooLarge => ffi::REQUEST_TOO_LARGE,
            Error::CapacityExceeded => ffi::CAPACITY_EXCEEDED,
            Error::DeviceOutOfMemory => ffi::DEVICE_OUT_OF_MEMORY,
            Error::CaptureMiss => ffi::CAPTURE_MISS,
            Error::UnknownPointer => ffi::UNKNOWN_POINTER,
            Error::DoubleFree => ffi::DOUBLE_FREE,
            Error::BackendUnavailable => ffi::BACKEND_UNAVAILABLE,
            Error::BackendFailed => ffi::BACKEND_FAILED,
            Error::ShuttingDown => ffi::SHUTTING_DOWN,
            Error::Unlisted(status) => status,
        }
    }

    /// The identifier, such as `device_out_of_memory`.
    #[must_use]
    pub fn name(self) -> &'static str {
        // SAFETY: any number will do.
        static_text(unsafe { ffi::arcalloc_status_name(self.status()) })
    }

    /// `None` for `ok`.
    #[must_use]
    pub fn from_status(status: i32) -> Option<Error> {
        if status == ffi::OK {
            return None;
        }
        Some(Error::ALL.into_iter().find(|error| error.status() == status).unwrap_or(Error::Unlisted(status)))
    }
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name())
    }
}

impl std::error::Error for Error {}

#[inline]
pub(crate) fn check(status: i32) -> Result<(), Error> {
    if status == ffi::OK {
        return Ok(());
    }
    Err(Error::from_status(status).unwrap_or(Error::Unlisted(status)))
}

/// A text of the library's own: static, never null.
pub(crate) fn static_text(text: *const c_char) -> &'static str {
    // SAFETY: convention 6 of the header.
    unsafe { CStr::from_ptr(text) }.to_str().unwrap_or("")
}

/// A text that C has written into our room, up to its zero.
pub(crate) fn text_in(room: &[u8]) -> String {
    let length = room.iter().position(|&byte| byte == 0).unwrap_or(room.len());
    String::from_utf8_lossy(&room[..length]).into_owned()
}

/// A text that is written as snprintf does.
pub(crate) fn written_text(write: impl Fn(*mut c_char, usize) -> i32) -> Result<String, Error> {
    let mut room = vec![0u8; 2048];
    loop {
        let length = write(room.as_mut_ptr().cast(), room.len());
        let length = match usize::try_from(length) {
            Ok(length) => length,
            Err(_) => return Err(Error::from_status(-length).unwrap_or(Error::InvalidArgument)),
        };
        if length < room.len() {
            room.truncate(length);
            return Ok(String::from_utf8_lossy(&room).into_owned());
        }
        room.resize(length + 1, 0);
    }
}
