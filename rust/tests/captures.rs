// SPDX-License-Identifier: Apache-2.0
use crate::as_shipped;
use arcalloc::{CapturePolicy, Error, Profile, Stream};
use std::path::Path;
use std::sync::Arc;

const S: Stream = Stream(1);

#[test]
fn a_graph_keeps_what_its_window_freed() {
    let memory = as_shipped();
    let window = memory.begin_capture(S, CapturePolicy::AsConfigured, 7).expect("a window");
    assert_eq!(memory.begin_capture(S, CapturePolicy::AsConfigured, 0).err(), Some(Error::InvalidArgument));
    window.join(Stream(2)).expect("joined");
    assert_eq!(memory.is_capturing(Stream(2)), Ok(true));
    drop(memory.allocate(3000, S).expect("scratch"));
    let graph = window.end().expect("a graph");
    assert_ne!(graph.id(), 0);
    assert_eq!(memory.is_capturing(S), Ok(false));
    graph.note_replay(Stream(3)).expect("noted");
    memory.drain().expect("drained");
    assert_eq!(memory.counters().pinned_bytes, 3072);
    drop(graph);
    memory.drain().expect("drained");
    assert_eq!(memory.counters().reserved_bytes, 0);
}

#[test]
fn a_window_that_is_dropped_is_aborted() {
    let memory = Arc::new(as_shipped());
    for abort in [false, true] {
        let window = memory.begin_capture_shared(S, CapturePolicy::Grow, 0).expect("a window");
        drop(memory.allocate(3000, S).expect("scratch"));
        if abort {
            window.abort().expect("aborted");
        } else {
            drop(window);
        }
        assert_eq!(memory.is_capturing(S), Ok(false));
        assert_eq!(memory.counters().pinned_bytes, 0);
        assert_eq!(Arc::strong_count(&memory), 1);
    }
    let graph = memory.begin_capture_shared(S, CapturePolicy::Grow, 0).expect("a window").end().expect("a graph");
    assert_eq!((Arc::strong_count(&memory), memory.counters().graphs_pinned), (2, 1));
    graph.give_up().expect("given up");
    assert_eq!((Arc::strong_count(&memory), memory.counters().graphs_pinned), (1, 0));
}

#[test]
fn misses_are_named() {
    let memory = as_shipped();
    let window = memory.begin_capture(S, CapturePolicy::Refuse, 0).expect("a window");
    for bytes in [393_216, 3000, 393_216] {
        assert_eq!(memory.allocate(bytes, S).unwrap_err(), Error::CaptureMiss);
    }
    let misses = memory.capture_misses().expect("a list");
    let seen: Vec<_> = misses.iter().map(|miss| (miss.requested_bytes, miss.stream, miss.count)).collect();
    assert_eq!(seen, [(393_216, 1, 2), (3000, 1, 1)]);
    window.abort().expect("aborted");
}

#[test]
fn profiles_are_recorded_kept_and_used() {
    let memory = as_shipped();
    memory.begin_profile().expect("recording");
    drop(memory.allocate(3000, S).expect("a block"));
    let mut seen = Profile::new().expect("a profile");
    memory.end_profile(&mut seen).expect("recorded");
    seen.add(S, 4096, 2).expect("added");
    seen.rename_stream(S, Stream(2)).expect("renamed");

    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("profile.json");
    seen.write(&path).expect("written");
    let read = Profile::read(&path).expect("read");
    let listed = |profile: &Profile| -> Vec<_> {
        profile.entries().expect("a list").iter().map(|entry| (entry.stream, entry.bytes, entry.blocks)).collect()
    };
    assert_eq!(listed(&read), [(2, 3072, 1), (2, 4096, 2)]);

    let mut missing = Profile::new().expect("a profile");
    assert_eq!(memory.verify(&read, Some(&mut missing)), Err(Error::CaptureMiss));
    assert_eq!(listed(&missing), listed(&read));
    memory.prewarm(&read, None).expect("filled");
    assert_eq!(memory.verify(&read, Some(&mut missing)), Ok(()));
    assert!(listed(&missing).is_empty());
}

#[test]
fn a_file_that_is_no_profile_is_refused_with_its_line() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("no_profile.json");
    std::fs::write(&path, "{\n  \"schema\": 3\n}\n").expect("written");
    let refused = Profile::read(&path).err().expect("a refusal");
    assert_eq!(refused.error, Error::InvalidArgument);
    assert!(refused.text.contains("no_profile.json:2"), "{refused}");
    let refused = Profile::read(Path::new("with\0zero")).err().expect("a refusal");
    assert_eq!(refused.error, Error::InvalidArgument);
}
