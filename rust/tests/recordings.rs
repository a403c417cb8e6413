// SPDX-License-Identifier: Apache-2.0
use crate::{as_shipped, with};
use arcalloc::{Error, Options, Stream};
use std::fs;
use std::path::{Path, PathBuf};

const MAGIC: &[u8] = b"\x89ARCT\r\n\x1a";

fn scratch(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join(name)
}

#[test]
fn requests_go_into_a_file() {
    let path = scratch("recorded.arct");
    let memory = as_shipped();
    assert_eq!(memory.end_recording(), Err(Error::InvalidArgument), "nothing is recorded");
    memory.record_to(&path).expect("a file");
    assert_eq!(memory.record_to(&path), Err(Error::InvalidArgument), "it is recorded already");
    drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
    memory.end_step().expect("a step");
    memory.flush_recording().expect("flushed");
    let now = memory.recording();
    // The request, its segment, the free and the step.
    assert_eq!((now.recording, now.events, now.lost, now.error), (true, 4, 0, None), "{now:?}");
    memory.end_recording().expect("ended");
    assert!(!memory.recording().recording);
    assert!(fs::read(&path).expect("the file").starts_with(MAGIC));
}

#[test]
fn options_name_the_file() {
    let path = scratch("named.arct");
    let options = Options::new().trace(&path).expect("a path");
    drop(with(&options));
    assert!(fs::read(&path).expect("the file").starts_with(MAGIC));
}

#[test]
fn a_file_that_cannot_be_written_is_refused() {
    assert_eq!(as_shipped().record_to(Path::new("/nowhere/at_all.arct")), Err(Error::InvalidArgument));
}
