// SPDX-License-Identifier: Apache-2.0
use crate::MIB;
use arcalloc::{Allocator, Backend, Device, Error, MemoryInfo, Options, Stream};
use std::os::raw::c_void;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::Arc;

/// A device in numbers: addresses that nobody follows, events that pass when it is not busy or when they are waited for.
#[derive(Default)]
struct Numbers {
    lent: AtomicU64,
    next: AtomicU64,
    busy: AtomicBool,
    passed: AtomicU64,
    events: AtomicU64,
    events_out: AtomicU64,
    waits: AtomicU64,
    broken: AtomicBool,
    beside: bool,
}

const BYTES: u64 = 64 * MIB;

// SAFETY: no address is lent twice, and all are multiples of 2 MiB.
unsafe impl Backend for Numbers {
    fn name(&self) -> &str {
        "numbers"
    }
    fn granularity(&self) -> u64 {
        512
    }
    fn allocate(&self, bytes: usize, _stream: Stream) -> Result<*mut c_void, Error> {
        if self.broken.load(SeqCst) {
            return Err(Error::BackendFailed);
        }
        if self.lent.load(SeqCst) + bytes as u64 > BYTES {
            return Err(Error::DeviceOutOfMemory);
        }
        self.lent.fetch_add(bytes as u64, SeqCst);
        let address = (1 << 40) + self.next.fetch_add((bytes as u64 / (2 * MIB) + 1) * 2 * MIB, SeqCst);
        Ok(address as *mut c_void)
    }
    fn free(&self, _address: *mut c_void, bytes: usize) -> Result<(), Error> {
        self.lent.fetch_sub(bytes as u64, SeqCst);
        Ok(())
    }
    fn query_memory(&self) -> Result<MemoryInfo, Error> {
        Ok(MemoryInfo { free_bytes: BYTES - self.lent.load(SeqCst), total_bytes: BYTES })
    }
    fn record_event(&self, _stream: Stream) -> Result<u64, Error> {
        self.events_out.fetch_add(1, SeqCst);
        let event = self.events.fetch_add(1, SeqCst) + 1;
        if !self.busy.load(SeqCst) {
            self.passed.store(event, SeqCst);
        }
        Ok(event)
    }
    fn query_event(&self, event: u64) -> Result<bool, Error> {
        Ok(event <= self.passed.load(SeqCst))
    }
    fn wait_event(&self, event: u64) -> Result<(), Error> {
        self.waits.fetch_add(1, SeqCst);
        self.passed.fetch_max(event, SeqCst);
        Ok(())
    }
    fn drop_event(&self, _event: u64) {
        self.events_out.fetch_sub(1, SeqCst);
    }
    fn lends_beside_capture(&self) -> bool {
        self.beside
    }
    fn allocate_beside_capture(&self, bytes: usize, stream: Stream) -> Result<*mut c_void, Error> {
        self.allocate(bytes, stream)
    }
}

fn over(backend: &Arc<Numbers>) -> Allocator {
    let device = Device::new(Arc::clone(backend)).expect("a device");
    assert_eq!(device.name(), "numbers");
    Allocator::new(&device, &Options::new()).expect("an allocator")
}

#[test]
fn a_host_device_lends_so_many_bytes() {
    let device = Device::host(8 * MIB).expect("a device");
    assert_eq!(device.name(), "host");
    assert_eq!(device.query_memory(), Ok(MemoryInfo { free_bytes: 8 * MIB, total_bytes: 8 * MIB }));
    assert_eq!(Device::host(0).err(), Some(Error::InvalidArgument));
}

#[test]
fn a_gpu_that_is_not_there_is_said_so() {
    let path = std::ffi::CString::new("/nowhere/libcuda.so.1").expect("a path");
    let mut options = arcalloc::ffi::CudaOptions::new();
    options.driver_path = path.as_ptr();
    // SAFETY: the path lives until after the call.
    let (error, text) = unsafe { Device::from_cuda_options(&options) }.err().expect("no driver there");
    assert_eq!(error, Error::BackendUnavailable);
    assert!(text.contains("/nowhere/libcuda.so.1"), "{text}");
    let (error, text) = Device::cuda(1_000_000).err().expect("no such device");
    assert!(error == Error::BackendUnavailable && !text.is_empty(), "{error}: {text}");
    assert_eq!(Device::host(8 * MIB).expect("a device").error_text().as_deref(), Ok(""));
}

#[test]
fn a_device_outlives_what_stands_on_it() {
    let backend = Arc::new(Numbers::default());
    let memory = over(&backend);
    let block = memory.allocate(3 << 20, Stream(1)).expect("a block");
    assert!(backend.lent.load(SeqCst) >= 3 * MIB);
    drop(block);
    assert_eq!(Arc::strong_count(&backend), 2);
    drop(memory);
    assert_eq!(Arc::strong_count(&backend), 1);
    assert_eq!(backend.lent.load(SeqCst), 0);
    assert_eq!(backend.events_out.load(SeqCst), 0);
}

#[test]
fn a_block_used_on_another_stream_waits_for_it() {
    let backend = Arc::new(Numbers::default());
    let memory = over(&backend);
    backend.busy.store(true, SeqCst);
    let block = memory.allocate(40 << 20, Stream(1)).expect("a block");
    block.note_use(Stream(2)).expect("noted");
    drop(block);
    assert!(memory.counters().pending_bytes >= 40 * MIB);
    drop(memory.allocate(40 << 20, Stream(1)).expect("after waiting"));
    let now = memory.counters();
    assert_eq!(now.wait_hits, 1);
    assert_eq!(now.waits, backend.waits.load(SeqCst));
    assert!(now.waits > 0);
}

#[test]
fn what_a_device_refuses_is_said() {
    let backend = Arc::new(Numbers::default());
    let memory = over(&backend);
    assert_eq!(memory.allocate(65 << 20, Stream(1)).unwrap_err(), Error::DeviceOutOfMemory);
    backend.broken.store(true, SeqCst);
    assert_eq!(memory.allocate(1 << 20, Stream(1)).unwrap_err(), Error::BackendFailed);
}

#[test]
fn a_device_says_whether_it_lends_beside_a_capture() {
    for beside in [false, true] {
        let backend = Arc::new(Numbers { beside, ..Numbers::default() });
        let memory = over(&backend);
        let window = memory.begin_capture(Stream(1), arcalloc::CapturePolicy::Grow, 0).expect("a window");
        let outcome = memory.allocate(3000, Stream(1)).map(drop);
        assert_eq!(outcome, if beside { Ok(()) } else { Err(Error::CaptureMiss) });
        window.abort().expect("aborted");
    }
}

struct Strange;

// SAFETY: it lends nothing.
unsafe impl Backend for Strange {
    fn name(&self) -> &str {
        "with\0zero"
    }
    fn granularity(&self) -> u64 {
        512
    }
    fn allocate(&self, _bytes: usize, _stream: Stream) -> Result<*mut c_void, Error> {
        Err(Error::DeviceOutOfMemory)
    }
    fn free(&self, _address: *mut c_void, _bytes: usize) -> Result<(), Error> {
        Ok(())
    }
    fn query_memory(&self) -> Result<MemoryInfo, Error> {
        Err(Error::BackendFailed)
    }
}

#[test]
fn a_name_that_c_cannot_have_is_refused() {
    let backend = Arc::new(Strange);
    assert_eq!(Device::new(Arc::clone(&backend)).err(), Some(Error::InvalidArgument));
    assert_eq!(Arc::strong_count(&backend), 1);
}

#[test]
fn the_default_streams_are_what_they_are_by_each_of_their_handles() {
    let of = |handle: usize| Stream::from_pointer(handle as *mut std::os::raw::c_void);
    assert_eq!(of(0), Stream::DEFAULT);
    assert_eq!(of(1), Stream::DEFAULT);
    assert_eq!(of(2), Stream::PER_THREAD);
    assert_eq!(of(0x70), Stream(0x70));
}
