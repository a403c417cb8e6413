// SPDX-License-Identifier: Apache-2.0
//! Finds the arcalloc library: in the directory that `ARCALLOC_LIB_DIR` names, else where pkg-config says.
//!
//! `ARCALLOC_LINK` is `static` or `shared`; unset, the static library is taken where there is one, so that a program
//! needs nothing at run time. Neither found is an error that says what to set. No crate is needed, and no network.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{exit, Command};

fn fail(text: &str) -> ! {
    eprintln!("arcalloc: {text}");
    exit(1);
}

/// What the linker is told: where to look, and what to link besides arcalloc.
struct Found {
    directories: Vec<PathBuf>,
    others: Vec<String>,
}

fn from_directory(directory: PathBuf) -> Found {
    if !directory.is_dir() {
        fail(&format!("ARCALLOC_LIB_DIR names {}, which is no directory", directory.display()));
    }
    Found { directories: vec![directory], others: Vec::new() }
}

fn pkg_config(arguments: &[&str]) -> Result<String, String> {
    let program = env::var_os("PKG_CONFIG").unwrap_or_else(|| "pkg-config".into());
    let done = Command::new(&program)
        .args(arguments)
        .output()
        .map_err(|error| format!("{}: {error}", program.to_string_lossy()))?;
    if !done.status.success() {
        return Err(String::from_utf8_lossy(&done.stderr).trim().to_string());
    }
    Ok(String::from_utf8_lossy(&done.stdout).trim().to_string())
}

fn from_pkg_config() -> Found {
    let version = concat!("arcalloc >= ", env!("CARGO_PKG_VERSION"));
    let said = pkg_config(&["--print-errors", "--exists", version])
        .and_then(|_| pkg_config(&["--libs", "--static", "arcalloc"]))
        .and_then(|libraries| pkg_config(&["--variable=libdir", "arcalloc"]).map(|place| (libraries, place)));
    let (libraries, place) = said.unwrap_or_else(|why| {
        fail(&format!(
            "pkg-config does not find arcalloc ({why}): set PKG_CONFIG_PATH to the pkgconfig directory of an \
             installed arcalloc, or ARCALLOC_LIB_DIR to the directory of its library"
        ))
    });
    let mut found = Found { directories: vec![PathBuf::from(place)], others: Vec::new() };
    for word in libraries.split_whitespace() {
        if let Some(directory) = word.strip_prefix("-L") {
            found.directories.push(PathBuf::from(directory));
        } else if let Some(library) = word.strip_prefix("-l") {
            found.others.push(library.to_string());
        }
    }
    found.others.retain(|library| library != "arcalloc" && library != ":libarcalloc.a");
    found
}

fn holds(directory: &Path, file: &str) -> bool {
    directory.join(file).is_file()
}

fn main() {
    for variable in ["ARCALLOC_LIB_DIR", "ARCALLOC_LINK", "PKG_CONFIG", "PKG_CONFIG_PATH"] {
        println!("cargo:rerun-if-env-changed={variable}");
    }
    println!("cargo:rerun-if-changed=build.rs");
    let found = match env::var_os("ARCALLOC_LIB_DIR") {
        Some(directory) => from_directory(PathBuf::from(directory)),
        None => from_pkg_config(),
    };
    let has = |file: &str| found.directories.iter().any(|directory| holds(directory, file));
    let shared = match env::var("ARCALLOC_LINK").as_deref() {
        Ok("static") => false,
        Ok("shared") => true,
        Ok(other) => fail(&format!("ARCALLOC_LINK is `{other}`; it may be `static` or `shared`")),
        Err(_) => !has("libarcalloc.a"),
    };
    let file = if shared { "libarcalloc.so" } else { "libarcalloc.a" };
    if !has(file) {
        fail(&format!("there is no {file} in {:?}", found.directories));
    }
    for directory in &found.directories {
        println!("cargo:rustc-link-search=native={}", directory.display());
    }
    if shared {
        println!("cargo:rustc-link-lib=dylib=arcalloc");
        return;
    }
    println!("cargo:rerun-if-changed={}", found.directories[0].join(file).display());
    println!("cargo:rustc-link-lib=static=arcalloc");
    // The library is C++ inside.
    let runtime = if found.others.is_empty() { vec!["stdc++".to_string()] } else { found.others };
    for library in runtime {
        println!("cargo:rustc-link-lib=dylib={library}");
    }
}
