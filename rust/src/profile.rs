// SPDX-License-Identifier: Apache-2.0
use crate::capture::elements;
use crate::error::{check, text_in};
use crate::ffi::ProfileEntry;
use crate::options::path_text;
use crate::{ffi, Allocator, Error, Stream};
use std::fmt;
use std::os::raw::c_char;
use std::path::Path;
use std::ptr::null_mut;

/// What a warm-up asked for: per stream and class, the most blocks out at once. Fills the cache before a capture.
pub struct Profile {
    raw: *mut ffi::Profile,
}

// SAFETY: it is the owner's alone, and bound to no thread; what reads it does not change it.
unsafe impl Send for Profile {}
unsafe impl Sync for Profile {}

/// Why a profile's file was refused, with file and line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProfileError {
    /// The status.
    pub error: Error,
    /// The sentence.
    pub text: String,
}

impl fmt::Display for ProfileError {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}: {}", self.error, self.text)
    }
}

impl std::error::Error for ProfileError {}

impl Profile {
    /// An empty one.
    pub fn new() -> Result<Profile, Error> {
        let mut raw = null_mut();
        // SAFETY: an output of ours.
        check(unsafe { ffi::arcalloc_profile_create(&mut raw) })?;
        Ok(Profile { raw })
    }

    /// From a file.
    pub fn read(path: &Path) -> Result<Profile, ProfileError> {
        let made = Profile::new().map_err(|error| ProfileError { error, text: String::new() })?;
        // SAFETY: a live profile, and a path and room that last for the call; as below.
        with_file(path, |path, text, capacity| unsafe { ffi::arcalloc_profile_read(made.raw, path, text, capacity) })?;
        Ok(made)
    }

    /// Into a file.
    pub fn write(&self, path: &Path) -> Result<(), ProfileError> {
        with_file(path, |path, text, capacity| unsafe { ffi::arcalloc_profile_write(self.raw, path, text, capacity) })
    }

    /// Adds an entry, or raises the count of the one with the same stream and bytes.
    pub fn add(&mut self, stream: Stream, bytes: u64, blocks: u64) -> Result<(), Error> {
        let entry = ProfileEntry { stream: stream.0, bytes, blocks };
        // SAFETY: a live profile, as in all that follow.
        check(unsafe { ffi::arcalloc_profile_add(self.raw, &entry) })
    }

    /// Its entries.
    pub fn entries(&self) -> Result<Vec<ProfileEntry>, Error> {
        elements(ProfileEntry::zeroed(), |out, capacity, count| unsafe {
            ffi::arcalloc_profile_entries(self.raw, out, capacity, count)
        })
    }

    /// Streams have other numbers in the next run: what is noted for `from` is meant for `to`.
    pub fn rename_stream(&mut self, from: Stream, to: Stream) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_profile_rename_stream(self.raw, from.0, to.0) })
    }
}

impl Drop for Profile {
    fn drop(&mut self) {
        // SAFETY: made by `create`, and nobody else's.
        unsafe { ffi::arcalloc_profile_destroy(self.raw) };
    }
}

fn with_file(path: &Path, call: impl FnOnce(*const c_char, *mut c_char, usize) -> i32) -> Result<(), ProfileError> {
    let mut text = [0u8; 512];
    let outcome = path_text(path).and_then(|path| check(call(path.as_ptr(), text.as_mut_ptr().cast(), text.len())));
    outcome.map_err(|error| ProfileError { error, text: text_in(&text) })
}

impl Allocator {
    /// Records from now on the most blocks out at once; every call takes the slow way meanwhile.
    pub fn begin_profile(&self) -> Result<(), Error> {
        // SAFETY: a live allocator, and live profiles; as in all that follow.
        check(unsafe { ffi::arcalloc_begin_profile(self.as_raw()) })
    }

    /// Adds what was seen to `out`.
    pub fn end_profile(&self, out: &mut Profile) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_end_profile(self.as_raw(), out.raw) })
    }

    /// Fills the cache to the profile within the bounds. `missing` becomes what is short.
    pub fn prewarm(&self, wanted: &Profile, missing: Option<&mut Profile>) -> Result<(), Error> {
        let missing = missing.map_or(null_mut(), |profile| profile.raw);
        check(unsafe { ffi::arcalloc_prewarm(self.as_raw(), wanted.raw, missing) })
    }

    /// Whether the cache is filled to the profile: `CaptureMiss` where it is short.
    pub fn verify(&self, wanted: &Profile, missing: Option<&mut Profile>) -> Result<(), Error> {
        let missing = missing.map_or(null_mut(), |profile| profile.raw);
        check(unsafe { ffi::arcalloc_verify(self.as_raw(), wanted.raw, missing) })
    }
}
