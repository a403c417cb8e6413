// SPDX-License-Identifier: Apache-2.0
use crate::error::{check, static_text, written_text};
use crate::ffi::{CapArithmetic, Counters, Failure};
use crate::{ffi, Allocator, Error};
use std::ffi::CString;
use std::fmt;
use std::os::raw::c_void;

/// The segment behind an address, for engines that share or register device memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SegmentExtent {
    /// Where the segment begins.
    pub base: *mut c_void,
    /// How long it is.
    pub bytes: u64,
    /// Where in it the address is.
    pub offset_bytes: u64,
}

/// What the library is, fixed when it was built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    /// Of the interface in C.
    pub abi_version: u32,
    /// Such as `0.1.0`.
    pub version: &'static str,
    /// Full hash, or `unknown`.
    pub commit: &'static str,
    /// `clean`, `dirty` or `unknown`.
    pub dirty: &'static str,
    /// Name and version.
    pub compiler: &'static str,
    /// Such as `Release`.
    pub build_type: &'static str,
}

/// What the library that is linked is.
#[must_use]
pub fn built_as() -> Build {
    let mut found = ffi::Build::new();
    // SAFETY: a whole struct of ours.
    let status = unsafe { ffi::arcalloc_built_as(&mut found) };
    assert_eq!(status, ffi::OK, "arcalloc: the library does not know this crate's structs");
    Build {
        abi_version: found.abi_version,
        version: static_text(found.version),
        commit: static_text(found.commit),
        dirty: static_text(found.dirty),
        compiler: static_text(found.compiler),
        build_type: static_text(found.build_type),
    }
}

impl Counters {
    /// hits / requests; 0 before the first request.
    #[must_use]
    pub fn hit_rate(&self) -> f64 {
        if self.requests == 0 {
            return 0.0;
        }
        self.hits as f64 / self.requests as f64
    }

    /// The window from an earlier reading to this one: counts subtracted, gauges as they are here.
    pub fn since(&self, before: &Counters) -> Result<Counters, Error> {
        let mut window = Counters::new();
        // SAFETY: whole structs.
        check(unsafe { ffi::arcalloc_counters_between(before, self, &mut window) })?;
        Ok(window)
    }

    /// A JSON object with the names of the counters. A bound that is not set is null, and `cap_source` is its name.
    pub fn to_json(&self) -> Result<String, Error> {
        // SAFETY: a whole struct, and room as long as it is said to be.
        written_text(|text, capacity| unsafe { ffi::arcalloc_counters_json(self, text, capacity) })
    }

    /// One line on a window of so many steps.
    pub fn step_report(&self, steps: u64) -> Result<String, Error> {
        // SAFETY: as above.
        written_text(|text, capacity| unsafe { ffi::arcalloc_step_report_text(self, steps, text, capacity) })
    }
}

/// The counters of several allocators in Prometheus' text format. The labels, as Prometheus writes them between braces,
/// such as `device="0",rank="1"`, tell each one's series from the others'; empty: none.
pub fn metrics(readings: &[(&Counters, &str)]) -> Result<String, Error> {
    let labels: Result<Vec<CString>, _> = readings.iter().map(|(_, labels)| CString::new(*labels)).collect();
    let labels = labels.map_err(|_| Error::InvalidArgument)?;
    let counters: Vec<*const Counters> = readings.iter().map(|(counters, _)| *counters as *const Counters).collect();
    let labels: Vec<_> =
        labels.iter().map(|one| if one.as_bytes().is_empty() { std::ptr::null() } else { one.as_ptr() }).collect();
    // SAFETY: two arrays of that length, of whole structs and of texts that live until the end of this function.
    written_text(|text, capacity| unsafe {
        ffi::arcalloc_metrics_text(counters.as_ptr(), labels.as_ptr(), counters.len(), text, capacity)
    })
}

impl fmt::Debug for Counters {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = out.debug_struct("Counters");
        for (name, value) in self.iter() {
            shown.field(name, &value);
        }
        shown.finish()
    }
}

impl Failure {
    /// Why it was refused.
    #[must_use]
    pub fn error(&self) -> Option<Error> {
        Error::from_status(self.outcome)
    }
}

/// The failure in one line, term by term.
impl fmt::Display for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        // SAFETY: a whole struct, and room as long as it is said to be.
        let text = written_text(|text, capacity| unsafe { ffi::arcalloc_failure_text(self, text, capacity) });
        out.write_str(&text.map_err(|_| fmt::Error)?)
    }
}

impl fmt::Debug for Failure {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "Failure({self})")
    }
}

impl fmt::Debug for CapArithmetic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("CapArithmetic")
            .field("query", &Error::from_status(self.query))
            .field("cached_bytes_max", &self.cached_bytes_max)
            .field("cap_source", &self.cap_source)
            .field("driver_free_bytes", &self.driver_free_bytes)
            .field("own_cached_bytes", &self.own_cached_bytes)
            .field("free_bytes", &self.free_bytes)
            .field("reserve_bytes", &self.reserve_bytes)
            .field("cached_bytes_max_wanted", &self.cached_bytes_max_wanted)
            .finish()
    }
}

/// Reads a struct with a size, which a live allocator and a whole struct of ours cannot have refused.
pub(crate) fn reading<T>(mut out: T, read: impl FnOnce(&mut T) -> i32) -> T {
    let status = read(&mut out);
    assert_eq!(status, ffi::OK, "arcalloc: the library does not know this crate's structs");
    out
}

impl Allocator {
    /// Every counter since creation.
    #[must_use]
    pub fn counters(&self) -> Counters {
        // SAFETY: a live allocator, an output of ours; as in all that follow.
        reading(Counters::new(), |out| unsafe { ffi::arcalloc_read_counters(self.as_raw(), out) })
    }

    /// Every counter over the last step that was ended.
    #[must_use]
    pub fn step_counters(&self) -> Counters {
        reading(Counters::new(), |out| unsafe { ffi::arcalloc_read_step_counters(self.as_raw(), out) })
    }

    /// Sets every peak to the present value; resets nothing else.
    pub fn reset_peaks(&self) -> Result<(), Error> {
        check(unsafe { ffi::arcalloc_reset_peaks(self.as_raw()) })
    }

    /// How the bound on cached bytes was found.
    #[must_use]
    pub fn cap(&self) -> CapArithmetic {
        reading(CapArithmetic::new(), |out| unsafe { ffi::arcalloc_read_cap(self.as_raw(), out) })
    }

    /// The last refusal by the ladder, term by term.
    #[must_use]
    pub fn last_failure(&self) -> Option<Failure> {
        let found = reading(Failure::new(), |out| unsafe { ffi::arcalloc_last_failure(self.as_raw(), out) });
        found.error().map(|_| found)
    }

    /// The segment behind an address, which is looked up and not followed; `UnknownPointer` when it lies in none.
    #[allow(clippy::not_unsafe_ptr_arg_deref)]
    pub fn locate(&self, address: *const c_void) -> Result<SegmentExtent, Error> {
        let mut found = ffi::SegmentExtent::new();
        check(unsafe { ffi::arcalloc_locate(self.as_raw(), address, &mut found) })?;
        Ok(SegmentExtent { base: found.base, bytes: found.bytes, offset_bytes: found.offset_bytes })
    }
}
