// SPDX-License-Identifier: Apache-2.0
use crate::backend::{self, Backend};
use crate::error::{check, static_text};
use crate::{ffi, Error};
use std::any::Any;
use std::ffi::CString;
use std::ptr::null_mut;
use std::sync::Arc;
use std::thread::panicking;

/// The bytes of a device, as its driver sees them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryInfo {
    /// What could be had now.
    pub free_bytes: u64,
    /// What there is.
    pub total_bytes: u64,
}

/// What allocators stand on. A clone is the same device; it ends with the last clone and the last allocator on it.
#[derive(Clone)]
pub struct Device(Arc<Owned>);

struct Owned {
    raw: *mut ffi::Device,
    /// What C's context points to: it goes after the device.
    _backend: Option<Arc<dyn Any + Send + Sync>>,
}

// SAFETY: every function of the header may be called from any thread, several at once; a backend is Send and Sync.
unsafe impl Send for Owned {}
unsafe impl Sync for Owned {}

impl Device {
    /// Memory of this process, up to so many bytes (at least a page).
    pub fn host(size_bytes: u64) -> Result<Device, Error> {
        let mut raw = null_mut();
        // SAFETY: an output of ours.
        check(unsafe { ffi::arcalloc_host_device_create(size_bytes, &mut raw) })?;
        Ok(Device(Arc::new(Owned { raw, _backend: None })))
    }

    /// A device of your own. Whoever keeps a clone of the `Arc` can look at it later.
    pub fn new<B: Backend>(backend: Arc<B>) -> Result<Device, Error> {
        let name = CString::new(backend.name()).map_err(|_| Error::InvalidArgument)?;
        let functions = backend::as_c(&*backend, &name, Arc::as_ptr(&backend));
        let mut raw = null_mut();
        // SAFETY: the functions are those of B, and their context is kept as long as the device.
        check(unsafe { ffi::arcalloc_device_create(&functions, &mut raw) })?;
        Ok(Device(Arc::new(Owned { raw, _backend: Some(backend) })))
    }

    /// What it is called in reports.
    #[must_use]
    pub fn name(&self) -> &str {
        // SAFETY: a live device; the text lives as long, and so does `self`.
        static_text(unsafe { ffi::arcalloc_device_name(self.0.raw) })
    }

    /// What the driver says about its memory now.
    pub fn query_memory(&self) -> Result<MemoryInfo, Error> {
        let mut found = ffi::MemoryInfo::new();
        // SAFETY: a live device, an output of ours.
        check(unsafe { ffi::arcalloc_device_query_memory(self.0.raw, &mut found) })?;
        Ok(MemoryInfo { free_bytes: found.free_bytes, total_bytes: found.total_bytes })
    }

    /// The C object, which stays this device's.
    #[must_use]
    pub fn as_raw(&self) -> *mut ffi::Device {
        self.0.raw
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: made by `create`; every allocator of this crate holds a clone, so none stands on it any more.
        let outcome = check(unsafe { ffi::arcalloc_device_destroy(self.raw) });
        assert!(outcome.is_ok() || panicking(), "arcalloc: a device is destroyed under an allocator made in C");
    }
}
