// SPDX-License-Identifier: Apache-2.0
use crate::{as_shipped, assert_adds_up, with, MIB};
use arcalloc::{Allocator, Block, Bound, Device, Error, Geometry, Options, Phase, Stream, NO_BOUND};
use std::sync::{Arc, Mutex};
use std::thread;

#[test]
fn a_block_is_given_back_when_it_is_dropped_and_found_again() {
    let memory = as_shipped();
    let first = memory.allocate(5000, Stream::DEFAULT).expect("a block");
    assert_eq!(first.as_ptr() as usize % 512, 0);
    assert_eq!((first.bytes(), first.stream()), (5000, Stream::DEFAULT));
    // SAFETY: host memory of 5000 bytes.
    unsafe { first.as_ptr().cast::<u8>().write_bytes(7, 5000) };
    let address = first.as_ptr();
    drop(first);
    let second = memory.allocate(5000, Stream::DEFAULT).expect("a block");
    assert_eq!(second.as_ptr(), address);
    second.free().expect("taken back");
    let now = memory.counters();
    assert_eq!((now.requests, now.misses, now.hits, now.frees), (2, 1, 1, 2));
    assert_eq!(now.blocks_live, 0);
    assert_adds_up(&now);
}

#[test]
fn nothing_is_a_block_of_no_bytes() {
    let memory = as_shipped();
    let none = memory.allocate(0, Stream::DEFAULT).expect("no block");
    assert!(none.as_ptr().is_null());
    none.note_use(Stream(3)).expect("nothing to note");
    drop(none);
    memory.allocate(0, Stream::DEFAULT).expect("no block").free().expect("nothing to free");
    assert_eq!(memory.counters().requests, 0);
}

#[test]
fn refusals_are_errors_and_the_ladder_leaves_a_record() {
    let memory = as_shipped();
    assert!(memory.last_failure().is_none());
    assert_eq!(memory.allocate(usize::MAX, Stream::DEFAULT).unwrap_err(), Error::RequestTooLarge);
    assert!(memory.last_failure().is_none(), "refused at the door");
    assert_eq!(memory.allocate(65 << 20, Stream(3)).unwrap_err(), Error::DeviceOutOfMemory);
    let failure = memory.last_failure().expect("a record");
    assert_eq!(
        (failure.error(), failure.requested_bytes, failure.stream),
        (Some(Error::DeviceOutOfMemory), 65 << 20, 3)
    );
    assert!(failure.to_string().starts_with("device_out_of_memory: requested 68157440 (class "), "{failure}");
    assert_eq!(memory.counters().failed, 2);
}

#[test]
fn by_address_what_is_not_out_is_refused() {
    let memory = as_shipped();
    let token = memory.allocate(5000, Stream::DEFAULT).expect("a block").into_token();
    let mut foreign = 0u64;
    // SAFETY: no block has these any more.
    unsafe {
        let address: *mut u64 = &mut foreign;
        assert_eq!(memory.deallocate_address(address.cast()), Err(Error::UnknownPointer));
        assert_eq!(memory.deallocate_token(token), Ok(()));
        assert_eq!(memory.deallocate_address(token.address), Err(Error::DoubleFree));
    }
    let now = memory.counters();
    assert_eq!((now.frees, now.refused_unknown_pointer, now.refused_double_free), (1, 1, 1));
}

#[test]
fn shared_blocks_keep_their_allocator_and_cross_threads() {
    let memory = Arc::new(as_shipped());
    let mut blocks = Vec::new();
    for _ in 0..8 {
        blocks.push(memory.allocate_shared(9000, Stream(1)).expect("a block"));
    }
    assert_eq!(Arc::strong_count(&memory), 9);
    let device = memory.device().clone();
    drop(memory);
    assert!(device.query_memory().expect("bytes").free_bytes < 64 * MIB);
    thread::spawn(move || drop(blocks)).join().expect("the thread");
    assert_eq!(device.query_memory().expect("bytes").free_bytes, 64 * MIB);
}

#[test]
fn the_ways_to_end_a_shared_block_let_go_of_its_allocator() {
    let memory = Arc::new(as_shipped());
    let block = || memory.allocate_shared(9000, Stream(1)).expect("a block");
    block().free().expect("taken back");
    block().free_on(Stream(2)).expect("taken back");
    let token = block().into_token();
    // SAFETY: the token has just been made.
    unsafe { memory.deallocate_token(token) }.expect("taken back");
    assert_eq!(Arc::strong_count(&memory), 1);
    assert_eq!(memory.counters().blocks_live, 0);
}

#[test]
fn threads_share_an_allocator() {
    let memory = as_shipped();
    let mailbox: Mutex<Vec<Block<&Allocator>>> = Mutex::new(Vec::new());
    thread::scope(|scope| {
        for number in 0..4u64 {
            let (memory, mailbox) = (&memory, &mailbox);
            scope.spawn(move || {
                for round in 0..100 {
                    let block = memory.allocate(1000 + round * 64, Stream(number)).expect("a block");
                    mailbox.lock().expect("the lock").push(block);
                    let _of_any_thread = mailbox.lock().expect("the lock").pop();
                }
            });
        }
    });
    assert!(mailbox.into_inner().expect("the lock").is_empty());
    let now = memory.counters();
    assert_eq!((now.requests, now.frees, now.blocks_live), (400, 400, 0));
    assert_adds_up(&now);
}

#[test]
fn a_thread_has_a_stream_of_its_own() {
    let here = Stream::of_this_thread();
    assert_eq!(here, Stream::of_this_thread());
    assert_ne!(here, thread::spawn(Stream::of_this_thread).join().expect("the thread"));
    let memory = as_shipped();
    drop(memory.allocate(5000, Stream::PER_THREAD).expect("a block"));
    drop(memory.allocate(5000, here).expect("the same stream"));
    assert_eq!(memory.counters().hits, 1);
    memory.end_stream(Stream(5)).expect("a stream that goes away");
}

#[test]
fn bounds_are_set_and_obeyed() {
    let memory = as_shipped();
    drop(memory.allocate(8 << 20, Stream::DEFAULT).expect("a block"));
    assert!(memory.counters().cached_bytes >= 8 * MIB);
    assert_eq!(memory.cap().cached_bytes_max, 24 * MIB);
    memory.set_cached_bytes_max(Bound::Explicit(MIB)).expect("a bound");
    assert_eq!(memory.counters().cached_bytes, 0);
    memory.set_cached_bytes_max(Bound::Unbounded).expect("none");
    assert_eq!(memory.counters().cached_bytes_max, NO_BOUND);
    let held = memory.allocate(8 << 20, Stream::DEFAULT).expect("a block");
    assert_eq!(memory.set_capacity_bytes(MIB), Err(Error::CapacityExceeded));
    memory.set_capacity_bytes(16 * MIB).expect("a capacity");
    assert_eq!(memory.allocate(16 << 20, Stream::DEFAULT).unwrap_err(), Error::CapacityExceeded);
    drop(held);
    memory.trim(0).expect("trimmed");
    memory.drain().expect("drained");
    assert_eq!(memory.counters().reserved_bytes, 0);
}

#[test]
fn phases_and_steps() {
    let memory = as_shipped();
    assert_eq!(memory.phase(), Ok(Phase::Mixed));
    memory.begin_phase(Phase::Prefill).expect("prefill");
    drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
    assert_eq!(memory.counters().bypassed_phase, 1);
    memory.begin_phase(Phase::Decode).expect("decode");
    assert_eq!(memory.phase(), Ok(Phase::Decode));
    let before = memory.counters();
    for _ in 0..3 {
        drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
        memory.end_step().expect("a step");
    }
    assert_eq!((memory.step_counters().requests, memory.step_counters().hits), (1, 1));
    let window = memory.counters().since(&before).expect("a window");
    assert_eq!((window.requests, window.misses, window.hits), (3, 1, 2));
    assert!((window.hit_rate() - 2.0 / 3.0).abs() < 1e-12);
    assert_eq!(memory.set_enabled(false), Ok(()));
    drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
    assert_eq!(memory.counters().bypassed_disabled, 1);
}

#[test]
fn readings() {
    let memory = with(&Options::new().geometry(Geometry::Exact));
    let block = memory.allocate(5000, Stream::DEFAULT).expect("a block");
    let inside = block.as_ptr().cast::<u8>().wrapping_add(100);
    let extent = memory.locate(inside.cast()).expect("a segment");
    assert_eq!((extent.base, extent.bytes, extent.offset_bytes), (block.as_ptr(), 8192, 100));
    assert_eq!(memory.locate(std::ptr::null()), Err(Error::UnknownPointer));
    drop(block);
    memory.drain().expect("drained");
    assert_eq!(memory.counters().reserved_bytes_peak, 8192);
    memory.reset_peaks().expect("reset");
    let now = memory.counters();
    assert_eq!(now.reserved_bytes_peak, 0);
    let json = now.to_json().expect("a text");
    assert!(json.contains("\"requests\":1,"), "{json}");
    for (name, value) in now.iter() {
        assert!(json.contains(&format!("\"{name}\"")), "{name} {value}");
    }
    assert_eq!(now.iter().find(|(name, _)| *name == "frees"), Some(("frees", 1)));
    let report = now.step_report(1).expect("a text");
    assert!(report.contains("hit rate") && !report.contains('\0'), "{report:?}");
    assert!(format!("{now:?}").contains("driver_frees: 1"));
}

#[test]
fn metrics_tell_allocators_apart() {
    let (first, second) = (as_shipped(), as_shipped());
    drop(second.allocate(5000, Stream::DEFAULT).expect("a block"));
    let page = arcalloc::metrics(&[(&first.counters(), "rank=\"0\""), (&second.counters(), "rank=\"1\"")]);
    let page = page.expect("a page");
    for line in ["arcalloc_requests_total{rank=\"0\"} 0", "arcalloc_requests_total{rank=\"1\"} 1"] {
        assert!(page.lines().any(|found| found == line), "{page}");
    }
    let page = arcalloc::metrics(&[(&second.counters(), "")]).expect("a page");
    assert!(page.lines().any(|found| found == "arcalloc_requests_total 1"), "{page}");
    assert_eq!(arcalloc::metrics(&[(&first.counters(), "a\0b")]), Err(Error::InvalidArgument));
}

#[test]
fn what_is_shared_between_threads_says_so() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Allocator>();
    crosses::<Device>();
    crosses::<Block<&Allocator>>();
    crosses::<Block<Arc<Allocator>>>();
    crosses::<arcalloc::Profile>();
    crosses::<arcalloc::Graph<Arc<Allocator>>>();
}
