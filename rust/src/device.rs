// SPDX-License-Identifier: Apache-2.0
use crate::backend::{self, Backend};
use crate::error::{check, static_text, text_in, written_text};
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

    /// A GPU, by its number, through CUDA's driver, which is opened at run time: memory of its primary context, lent as
    /// shipped. Refused, the sentence says what is missing. docs/cuda.md is about it; [`Device::from_cuda_options`]
    /// takes all that can be chosen.
    pub fn cuda(ordinal: i32) -> Result<Device, (Error, String)> {
        let mut options = ffi::CudaOptions::new();
        options.ordinal = ordinal;
        // SAFETY: no path in it.
        unsafe { Device::from_cuda_options(&options) }
    }

    /// A GPU by the struct of the header.
    ///
    /// # Safety
    /// `driver_path` is null, or a text that ends with a zero.
    pub unsafe fn from_cuda_options(options: &ffi::CudaOptions) -> Result<Device, (Error, String)> {
        let mut raw = null_mut();
        let mut text = [0u8; 512];
        // SAFETY: a whole struct, an output of ours, and room as long as it is said to be.
        let status =
            unsafe { ffi::arcalloc_cuda_device_create(options, &mut raw, text.as_mut_ptr().cast(), text.len()) };
        check(status).map_err(|error| (error, text_in(&text)))?;
        Ok(Device(Arc::new(Owned { raw, _backend: None })))
    }

    /// What its driver failed to do last, in a sentence; empty where nothing is known.
    pub fn error_text(&self) -> Result<String, Error> {
        // SAFETY: a live device, and room as long as it is said to be.
        written_text(|text, capacity| unsafe { ffi::arcalloc_device_error_text(self.0.raw, text, capacity) })
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
