// SPDX-License-Identifier: Apache-2.0
use crate::{as_shipped, with, MIB};
use arcalloc::{ffi, Allocator, Bound, CapturePolicy, Device, Error, Geometry, Options, Profile, Severity, Stream};
use std::path::Path;
use std::process::Command;
use std::sync::{Arc, Mutex};

#[test]
fn options_arrive() {
    let memory = with(
        &Options::new()
            .cache(false)
            .cached_bytes_max(Bound::Explicit(12_345_678))
            .capacity_bytes(16 * MIB)
            .geometry(Geometry::Exact),
    );
    drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
    let now = memory.counters();
    assert_eq!((now.bypassed_disabled, now.cached_bytes_max, now.capacity_bytes), (1, 12_345_678, 16 * MIB));
    assert_eq!((now.cap_source, now.reserved_bytes_peak), (ffi::CAP_EXPLICIT, 8192));

    let memory = with(&Options::new().capture_miss(CapturePolicy::Refuse).cache_in_prefill(true).oom_retry(false));
    memory.begin_phase(arcalloc::Phase::Prefill).expect("prefill");
    drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
    assert_eq!(memory.counters().bypassed, 0);
    let window = memory.begin_capture(Stream(1), CapturePolicy::AsConfigured, 0).expect("a window");
    assert_eq!(memory.allocate(9000, Stream(1)).unwrap_err(), Error::CaptureMiss);
    drop(window);
}

#[test]
fn each_geometry_rounds_as_it_says() {
    // 5 * 2^17 + 1: up to the next of so many steps in the doubling from 512 KiB to 1 MiB.
    let expected = [
        (Geometry::Classes1, MIB),
        (Geometry::Classes2, 6 * MIB / 8),
        (Geometry::Classes4, 6 * MIB / 8),
        (Geometry::Classes8, 11 * MIB / 16),
        (Geometry::Classes16, 21 * MIB / 32),
        (Geometry::Exact, 5 * MIB / 8 + 4096),
    ];
    for (geometry, bytes) in expected {
        let memory = with(&Options::new().geometry(geometry));
        let _block = memory.allocate((5 << 17) + 1, Stream::DEFAULT).expect("a block");
        assert_eq!(memory.counters().allocated_bytes, bytes, "{geometry:?}");
    }
}

#[test]
fn reports_go_to_the_sink() {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&lines);
    let options =
        Options::new().stats_every_steps(2).sink(move |line| seen.lock().expect("the lock").push(line.to_string()));
    let memory = with(&options);
    drop(options);
    for _ in 0..5 {
        drop(memory.allocate(5000, Stream::DEFAULT).expect("a block"));
        memory.end_step().expect("a step");
    }
    let lines = lines.lock().expect("the lock");
    assert_eq!(lines.len(), 2);
    assert!(lines[1].contains("hit rate 1"), "{}", lines[1]);
}

#[test]
fn a_profile_is_loaded_at_creation() {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("at_creation.json");
    let mut wanted = Profile::new().expect("a profile");
    wanted.add(Stream(1), 3072, 2).expect("added");
    wanted.write(&path).expect("written");
    let memory = with(&Options::new().profile(&path).expect("a path"));
    assert_eq!(memory.verify(&wanted, None), Ok(()));
    let device = Device::host(64 * MIB).expect("a device");
    let gone = Options::new().profile(Path::new("/nowhere/at_all.json")).expect("a path");
    assert_eq!(Allocator::new(&device, &gone).err(), Some(Error::InvalidArgument));
}

/// The tests below run by themselves, in a process with these variables.
fn in_a_process_with(test: &str, variables: &[(&str, &str)]) {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", test, "--ignored"]).envs(variables.iter().copied());
    let done = command.output().expect("this program runs");
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success() && said.contains("1 passed"), "{said}");
}

#[test]
fn the_environment_is_read() {
    let trace = concat!(env!("CARGO_TARGET_TMPDIR"), "/of_the_environment.arct");
    let variables = [
        ("ARC_ALLOC_CACHE_MAX_MB", "3"),
        ("ARC_ALLOC_CAPACITY_MB", "32"),
        ("ARC_ALLOC_CACHE_STATS", "5"),
        ("ARC_ALLOC_CACHE_TRACE", trace),
    ];
    in_a_process_with("settings::with_four_variables", &variables);
    in_a_process_with(
        "settings::with_two_that_are_refused",
        &[("ARC_ALLOC_CACHE", "yes"), ("ARC_ALLOC_CAPACITY_MB", "-1")],
    );
}

#[test]
#[ignore = "run by the_environment_is_read"]
fn with_four_variables() {
    let mut options = Options::new();
    options.read_environment(|severity, line| panic!("{severity:?}: {line}")).expect("accepted");
    let memory = with(&options);
    assert!(memory.recording().recording);
    let now = memory.counters();
    assert_eq!((now.cached_bytes_max, now.capacity_bytes, now.cap_source), (3 * MIB, 32 * MIB, ffi::CAP_ENVIRONMENT));
    let explicit = options.cached_bytes_max(Bound::Explicit(MIB));
    assert_eq!(with(&explicit).counters().cap_source, ffi::CAP_EXPLICIT);
}

#[test]
#[ignore = "run by the_environment_is_read"]
fn with_two_that_are_refused() {
    let mut said = Vec::new();
    let mut options = Options::new();
    let outcome = options.read_environment(|severity, line| said.push((severity, line.to_string())));
    assert_eq!(outcome, Err(Error::InvalidArgument));
    assert_eq!(said.len(), 2, "{said:?}");
    for name in ["ARC_ALLOC_CACHE", "ARC_ALLOC_CAPACITY_MB"] {
        assert!(said.iter().any(|(severity, line)| *severity == Severity::Error && line.contains(name)), "{said:?}");
    }
    assert_eq!(with(&options).counters().capacity_bytes, as_shipped().counters().capacity_bytes);
}
