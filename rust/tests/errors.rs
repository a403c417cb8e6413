// SPDX-License-Identifier: Apache-2.0
use arcalloc::{ffi, Error};

#[test]
fn every_status_has_its_error_and_its_name() {
    assert_eq!(Error::from_status(ffi::OK), None);
    let mut seen = Vec::new();
    for status in 1..=ffi::SHUTTING_DOWN {
        let error = Error::from_status(status).expect("an error");
        assert!(!matches!(error, Error::Unlisted(_)), "{status}");
        assert_eq!(error.status(), status);
        assert!(!error.name().starts_with("unknown_status"), "{error}");
        seen.push(error);
    }
    assert_eq!(seen, Error::ALL);
    assert_eq!(Error::DeviceOutOfMemory.to_string(), "device_out_of_memory");
}

#[test]
fn a_status_of_a_newer_library_is_kept() {
    let error = Error::from_status(4711).expect("an error");
    assert_eq!(error, Error::Unlisted(4711));
    assert_eq!(error.status(), 4711);
    assert!(error.name().starts_with("unknown_"), "{error}");
}
