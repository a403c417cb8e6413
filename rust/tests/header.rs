// SPDX-License-Identifier: Apache-2.0
//! `arcalloc::ffi` against the headers: a C compiler is given one static assertion for each size, offset, type, value
//! and prototype, and every name of the headers is looked for. The compiler is `$CC`, else `cc`.

use arcalloc::ffi;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Macros of the headers that are no constants.
const NO_CONSTANTS: [&str; 6] = [
    "ARCALLOC_API",
    "ARCALLOC_NOEXCEPT",
    "ARCALLOC_RECORDING_NOEXCEPT",
    "ARCALLOC_ARCALLOC_H",
    "ARCALLOC_COUNTERS_H",
    "ARCALLOC_RECORDING_H",
];

fn include_directory() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../include")
}

/// A type of ours as C writes it.
fn in_c(kind: &str) -> String {
    let kind = kind.trim();
    if let Some(function) = kind.strip_prefix("Option<unsafe extern \"C\" fn(") {
        let inside = function.strip_suffix('>').expect("an optional function");
        let close = inside.rfind(')').expect("its arguments");
        let result = inside[close + 1..].trim().trim_start_matches("->");
        return pointer_to_function(&inside[..close].split(',').collect::<Vec<_>>(), result);
    }
    if let Some(pointee) = kind.strip_prefix("*mut ") {
        return in_c(pointee) + "*";
    }
    if let Some(pointee) = kind.strip_prefix("*const ") {
        return in_c(pointee) + " const*";
    }
    // An array, which C makes a pointer of where a type is asked for.
    if let Some((element, _)) = kind.strip_prefix('[').and_then(|array| array.split_once(';')) {
        return in_c(element) + "*";
    }
    match kind {
        "" => "void".into(),
        "u8" => "uint8_t".into(),
        "u32" => "uint32_t".into(),
        "u64" => "uint64_t".into(),
        "i32" => "int32_t".into(),
        "usize" => "size_t".into(),
        "c_int" => "int".into(),
        "c_char" => "char".into(),
        "c_void" => "void".into(),
        name => named_in_c(name),
    }
}

/// `MemoryInfo` is `arcalloc_memory_info`.
fn named_in_c(name: &str) -> String {
    let mut written = String::from("arcalloc");
    for letter in name.chars() {
        if letter.is_uppercase() {
            written.push('_');
        }
        written.extend(letter.to_lowercase());
    }
    written
}

fn pointer_to_function(arguments: &[&str], result: &str) -> String {
    let arguments: Vec<String> = arguments.iter().map(|kind| in_c(kind)).collect();
    let arguments = if arguments.is_empty() { "void".to_string() } else { arguments.join(", ") };
    format!("{} (*)({arguments})", in_c(result))
}

/// The program that only compiles where all is as in the header. One claim a line.
fn claims() -> Vec<String> {
    let mut claims = Vec::new();
    for (name, size, fields) in ffi::structs() {
        claims.push(format!("sizeof({name}) == {size}"));
        for field in fields {
            let (of, bytes) = (field.name, field.size);
            claims.push(format!("offsetof({name}, {of}) == {}", field.offset));
            claims.push(format!("sizeof((({name}*)0)->{of}) == {bytes}"));
            claims.push(format!("_Generic((({name}*)0)->{of}, {}: 1, default: 0)", in_c(field.kind)));
        }
    }
    for (name, value) in ffi::CONSTANTS {
        claims.push(format!("(uint64_t)ARCALLOC_{name} == UINT64_C({value})"));
    }
    for (name, arguments, result) in ffi::FUNCTIONS {
        claims.push(format!("_Generic(&{name}, {}: 1, default: 0)", pointer_to_function(arguments, result)));
    }
    claims
}

/// What the compiler says about a program with these claims; empty when it takes them.
fn compiled(file: &str, claims: &[String]) -> String {
    let source = Path::new(env!("CARGO_TARGET_TMPDIR")).join(file);
    let mut text = String::from("#include <arcalloc/arcalloc.h>\n");
    for claim in claims {
        text += &format!("_Static_assert({claim}, \"differs\");\n");
    }
    fs::write(&source, text).expect("a file for the compiler");
    let compiler = std::env::var("CC").unwrap_or_else(|_| "cc".into());
    let done = Command::new(&compiler)
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", "-I"])
        .arg(include_directory())
        .arg(&source)
        .output()
        .unwrap_or_else(|error| panic!("{compiler}: {error}"));
    let said = String::from_utf8_lossy(&done.stderr).into_owned();
    assert_eq!(done.status.success(), said.is_empty(), "{compiler} fails without a word");
    said
}

#[test]
fn every_declaration_is_as_in_the_header() {
    let said = compiled("header.c", &claims());
    assert!(said.is_empty(), "{said}");
}

#[test]
fn a_difference_is_noticed() {
    let wrong = [
        "sizeof(arcalloc_options) == 8",
        "offsetof(arcalloc_options, geometry) == 36",
        "_Generic(((arcalloc_options*)0)->geometry, uint32_t: 1, default: 0)",
        "_Generic(((arcalloc_options*)0)->profile_path, char*: 1, default: 0)",
        "_Generic(&arcalloc_allocate, int32_t (*)(arcalloc_allocator*, size_t, uint64_t): 1, default: 0)",
        "(uint64_t)ARCALLOC_DOUBLE_FREE == UINT64_C(6)",
    ];
    for claim in wrong {
        assert!(compiled("wrong.c", &[claim.to_string()]).contains("differs"), "{claim}");
    }
}

#[test]
fn no_struct_has_a_gap_where_a_field_may_hide() {
    for (name, size, fields) in ffi::structs() {
        let mut end = 0;
        for field in fields {
            assert_eq!(field.offset, end, "{name}.{}", field.name);
            end += field.size;
        }
        assert_eq!(size, end, "{name}");
    }
}

/// The headers without comments.
fn headers() -> String {
    let mut text = String::new();
    for entry in fs::read_dir(include_directory().join("arcalloc")).expect("the headers") {
        let path = entry.expect("an entry").path();
        if path.extension().map_or(false, |extension| extension == "h") {
            text += &fs::read_to_string(path).expect("a header");
        }
    }
    let mut code = String::new();
    let mut rest = text.as_str();
    while let Some(start) = rest.find("/*") {
        code += &rest[..start];
        let length = rest[start..].find("*/").expect("the end of a comment");
        rest = &rest[start + length + 2..];
    }
    code + rest
}

fn words(code: &str) -> impl Iterator<Item = (usize, &str)> {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    code.split(move |letter| !is_word(letter))
        .filter(|word| !word.is_empty())
        .map(move |word| (word.as_ptr() as usize - code.as_ptr() as usize, word))
}

fn assert_same(what: &str, ours: &BTreeSet<String>, theirs: &BTreeSet<String>) {
    assert!(!theirs.is_empty(), "found no {what} in the headers");
    let missing: Vec<_> = theirs.difference(ours).collect();
    let strange: Vec<_> = ours.difference(theirs).collect();
    assert!(missing.is_empty(), "rust/src/ffi lacks these {what} of the headers: {missing:?}");
    assert!(strange.is_empty(), "rust/src/ffi has these {what}, which the headers lack: {strange:?}");
}

#[test]
fn every_name_of_the_header_is_here() {
    let code = headers();
    let (mut functions, mut structs, mut constants) = (BTreeSet::new(), BTreeSet::new(), BTreeSet::new());
    for (at, word) in words(&code) {
        let (before, after) = (&code[..at], &code[at + word.len()..]);
        if word.starts_with("arcalloc_") && after.starts_with('(') {
            functions.insert(word.to_string());
        } else if word.starts_with("arcalloc_") && before.ends_with("typedef struct ") && after.starts_with(" {") {
            structs.insert(word.to_string());
        } else if word.starts_with("ARCALLOC_") && !NO_CONSTANTS.contains(&word) {
            constants.insert(word.to_string());
        }
    }
    let ours = ffi::FUNCTIONS.iter().map(|(name, _, _)| name.to_string()).collect();
    assert_same("functions", &ours, &functions);
    let ours = ffi::structs().iter().map(|(name, _, _)| name.to_string()).collect();
    assert_same("structs", &ours, &structs);
    let ours = ffi::CONSTANTS.iter().map(|(name, _)| format!("ARCALLOC_{name}")).collect();
    assert_same("constants", &ours, &constants);
}

#[test]
fn the_library_has_the_interface_of_this_crate() {
    assert_eq!(unsafe { ffi::arcalloc_abi_version() }, ffi::ABI_VERSION);
    assert_eq!(arcalloc::built_as().abi_version, ffi::ABI_VERSION);
    assert_eq!(arcalloc::built_as().version, env!("CARGO_PKG_VERSION"));
}
