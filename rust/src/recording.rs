// SPDX-License-Identifier: Apache-2.0
use crate::error::check;
use crate::options::path_text;
use crate::readings::reading;
use crate::{ffi, Allocator, Error};
use std::fmt;
use std::path::Path;

/// How a recording goes, or how the last one went.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// Whether it goes on.
    pub recording: bool,
    /// Events that were written.
    pub events: u64,
    /// Events that were not: the file could not take them, or the host had no memory for them.
    pub lost: u64,
    /// What was refused first.
    pub error: Option<Error>,
}

impl fmt::Debug for Recording {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let how = if self.recording { "goes on" } else { "has ended" };
        write!(out, "Recording({how}, {} events, {} lost, {:?})", self.events, self.lost, self.error)
    }
}

/// Recordings: every request as an event in a file, for `arcalloc replay`. docs/recording.md says what is in it. For
/// events of another kind of sink there is `ffi::arcalloc_begin_recording`.
impl Allocator {
    /// Records from now on, what is live first; the file is emptied. `InvalidArgument` while recording, and for a file
    /// that cannot be written.
    pub fn record_to(&self, path: &Path) -> Result<(), Error> {
        let path = path_text(path)?;
        // SAFETY: a live allocator, and a path that is read during the call; as in all that follow.
        check(unsafe { ffi::arcalloc_record_to(self.as_raw(), path.as_ptr()) })
    }

    /// Writes what has been noted.
    pub fn flush_recording(&self) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_flush_recording(self.as_raw()) })
    }

    /// Writes the rest and closes the file: `BackendFailed` where events were lost. A drop of the allocator does so too.
    pub fn end_recording(&self) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_end_recording(self.as_raw()) })
    }

    /// How it goes.
    #[must_use]
    pub fn recording(&self) -> Recording {
        let found =
            reading(ffi::RecordingState::new(), |out| unsafe { ffi::arcalloc_read_recording(self.as_raw(), out) });
        Recording {
            recording: found.recording != 0,
            events: found.events,
            lost: found.lost,
            error: Error::from_status(found.outcome),
        }
    }
}
