// SPDX-License-Identifier: Apache-2.0
use crate::callback::{pass_line, without_unwinding, Sink};
use crate::error::check;
use crate::{ffi, CapturePolicy, Error};
use std::ffi::{CStr, CString};
use std::os::raw::{c_char, c_void};
use std::path::Path;
use std::sync::Arc;

/// How sizes are rounded: size classes per doubling, or none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Geometry {
    /// 1 a doubling.
    Classes1,
    /// 2 a doubling.
    Classes2,
    /// 4 a doubling.
    Classes4,
    /// 8 a doubling, as shipped.
    Classes8,
    /// 16 a doubling.
    Classes16,
    /// One driver allocation per block.
    Exact,
}

/// How the bound on cached bytes is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// From the free memory of the device, as shipped.
    Derived,
    /// So many bytes; 0 caches nothing.
    Explicit(u64),
    /// None, for A/B runs.
    Unbounded,
}

impl Bound {
    pub(crate) fn as_c(self) -> (i32, u64) {
        match self {
            Bound::Derived => (ffi::BOUND_DERIVED, 0),
            Bound::Explicit(bytes) => (ffi::BOUND_EXPLICIT, bytes),
            Bound::Unbounded => (ffi::BOUND_UNBOUNDED, 0),
        }
    }
}

/// How grave what [`Options::read_environment`] says is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// An unknown name, or an unbounded cache.
    Warning,
    /// A value that was refused.
    Error,
}

/// Everything an allocator is created with; untouched, as shipped. docs/settings.md says what each means.
///
/// ```
/// # use arcalloc::{Allocator, Bound, Device, Options};
/// let device = Device::host(1 << 30)?;
/// let memory = Allocator::new(&device, &Options::new().cached_bytes_max(Bound::Explicit(64 << 20)))?;
/// assert_eq!(memory.counters().cached_bytes_max, 64 << 20);
/// # Ok::<(), arcalloc::Error>(())
/// ```
pub struct Options {
    raw: ffi::Options,
    profile_path: Option<CString>,
    trace_path: Option<CString>,
    pub(crate) sink: Option<Arc<Sink>>,
}

impl Default for Options {
    fn default() -> Self {
        Options::new()
    }
}

fn switch(on: bool) -> i32 {
    if on {
        ffi::SWITCH_ON
    } else {
        ffi::SWITCH_OFF
    }
}

impl Options {
    /// As shipped.
    #[must_use]
    pub fn new() -> Options {
        Options { raw: ffi::Options::new(), profile_path: None, trace_path: None, sink: None }
    }

    /// Off: every request goes to the driver.
    #[must_use]
    pub fn cache(mut self, on: bool) -> Options {
        self.raw.cache = switch(on);
        self
    }

    /// The bound on cached bytes.
    #[must_use]
    pub fn cached_bytes_max(mut self, bound: Bound) -> Options {
        (self.raw.cached_bytes_max_mode, self.raw.cached_bytes_max) = bound.as_c();
        self.raw.cached_bytes_max_from_environment = 0;
        self
    }

    /// The bound on all bytes from the driver; 0: none.
    #[must_use]
    pub fn capacity_bytes(mut self, bytes: u64) -> Options {
        self.raw.capacity_bytes = bytes;
        self
    }

    /// How sizes are rounded.
    #[must_use]
    pub fn geometry(mut self, geometry: Geometry) -> Options {
        self.raw.geometry = match geometry {
            Geometry::Classes1 => ffi::GEOMETRY_1,
            Geometry::Classes2 => ffi::GEOMETRY_2,
            Geometry::Classes4 => ffi::GEOMETRY_4,
            Geometry::Classes8 => ffi::GEOMETRY_8,
            Geometry::Classes16 => ffi::GEOMETRY_16,
            Geometry::Exact => ffi::GEOMETRY_EXACT,
        };
        self
    }

    /// Off: a refusal by the driver is final.
    #[must_use]
    pub fn oom_retry(mut self, on: bool) -> Options {
        self.raw.oom_retry = switch(on);
        self
    }

    /// On: the cache stays on in the prefill phase.
    #[must_use]
    pub fn cache_in_prefill(mut self, on: bool) -> Options {
        self.raw.cache_in_prefill = switch(on);
        self
    }

    /// What a request meets in a capture window when nothing idle will do.
    #[must_use]
    pub fn capture_miss(mut self, policy: CapturePolicy) -> Options {
        self.raw.capture_miss = policy.as_c();
        self
    }

    /// A prewarm profile to load at creation. `InvalidArgument` for a path with a zero in it.
    pub fn profile(mut self, path: &Path) -> Result<Options, Error> {
        self.profile_path = Some(path_text(path)?);
        Ok(self)
    }

    /// A file to record every request into. `InvalidArgument` for a path with a zero in it.
    pub fn trace(mut self, path: &Path) -> Result<Options, Error> {
        self.trace_path = Some(path_text(path)?);
        Ok(self)
    }

    /// A step report to the sink every so many steps; 0: never.
    #[must_use]
    pub fn stats_every_steps(mut self, steps: u32) -> Options {
        self.raw.stats_every_steps = steps;
        self
    }

    /// Where reports go: called without locks, on the thread whose call ended the step. A panic in it ends the process.
    #[must_use]
    pub fn sink(mut self, sink: impl Fn(&str) + Send + Sync + 'static) -> Options {
        self.sink = Some(Arc::new(Sink(Box::new(sink))));
        self
    }

    /// Applies the `ARC_ALLOC_*` variables. A refused value leaves its field as it was and is told to `tell`; all are
    /// looked at, and the result is `InvalidArgument` if any was refused. Reports without a sink go to stderr then.
    pub fn read_environment(&mut self, mut tell: impl FnMut(Severity, &str)) -> Result<(), Error> {
        self.raw = self.for_c();
        let mut tell: &mut dyn FnMut(Severity, &str) = &mut tell;
        let context: *mut c_void = std::ptr::addr_of_mut!(tell).cast();
        // SAFETY: a whole struct, and a sink that is called during this call only, with that context.
        let outcome = check(unsafe { ffi::arcalloc_options_from_environment(&mut self.raw, Some(pass_on), context) });
        for (found, kept) in
            [(&mut self.raw.profile_path, &mut self.profile_path), (&mut self.raw.trace_path, &mut self.trace_path)]
        {
            if !found.is_null() {
                // SAFETY: ours, or what the library put there, a text of the environment; copied before that may change.
                *kept = Some(unsafe { CStr::from_ptr(*found) }.to_owned());
            }
            *found = std::ptr::null();
        }
        outcome
    }

    /// The struct in C; what it points to lives as long as `self`.
    pub(crate) fn for_c(&self) -> ffi::Options {
        let mut made = self.raw;
        if let Some(path) = &self.profile_path {
            made.profile_path = path.as_ptr();
        }
        if let Some(path) = &self.trace_path {
            made.trace_path = path.as_ptr();
        }
        if let Some(sink) = &self.sink {
            made.sink = Some(pass_line);
            made.sink_context = Arc::as_ptr(sink) as *mut c_void;
        }
        made
    }
}

pub(crate) fn path_text(path: &Path) -> Result<CString, Error> {
    use std::os::unix::ffi::OsStrExt;
    CString::new(path.as_os_str().as_bytes()).map_err(|_| Error::InvalidArgument)
}

unsafe extern "C" fn pass_on(context: *mut c_void, severity: i32, line: *const c_char) {
    // SAFETY: the context of `read_environment`, which is waiting for this call.
    let (tell, line) = unsafe { (&mut *context.cast::<&mut dyn FnMut(Severity, &str)>(), CStr::from_ptr(line)) };
    let severity = if severity == ffi::SEVERITY_WARNING { Severity::Warning } else { Severity::Error };
    without_unwinding(|| tell(severity, &line.to_string_lossy()));
}
