# SPDX-License-Identifier: Apache-2.0
"""What the core library asks of others: the C library, and of the C++ runtime neither exceptions nor the heap.

Reads the static archive. A symbol that is neither in the archive, nor in libc, libstdc++, libm or
libgcc is a dependency that nobody declared.
"""
import re
import subprocess

import tree

# By mangled name: throwing, the global heap, and the checked standard containers' ways to throw. Not
# __throw_system_error: std::mutex names it for a failure that a mutex of the plain kind does not have.
FORBIDDEN = re.compile(r"^(__cxa_throw|__cxa_rethrow|__cxa_allocate_exception|__cxa_begin_catch|_Zn[wa][jm]\w*|_ZSt\d+__throw_(?!system_errori$)\w+"
                       r"|__cxa_bad_\w+|_ZNSt6threadC\w*|_ZNSt6thread15_M_start_thread\w*|pthread_create)$")
LIBRARIES = ("libc.so.6", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1")


def names(command):
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return {fields[-1].split("@")[0] for fields in map(str.split, done.stdout.splitlines()) if len(fields) >= 2}


def main():
    given = tree.arguments("archive", "cxx")
    undefined = names(["nm", "--undefined-only", given.archive])
    defined = names(["nm", "--defined-only", given.archive])
    lent = {"_GLOBAL_OFFSET_TABLE_"}
    for library in LIBRARIES:
        found = subprocess.run([given.cxx, "-print-file-name=" + library], capture_output=True, text=True, check=True)
        if found.stdout.strip() != library:
            lent |= names(["nm", "-D", "--defined-only", found.stdout.strip()])
    # The part of the C library that is linked into every program: atexit is there.
    part = subprocess.run([given.cxx, "-print-file-name=libc_nonshared.a"], capture_output=True, text=True, check=True).stdout.strip()
    if part != "libc_nonshared.a":
        lent |= names(["nm", "--defined-only", part])
    findings = []
    for name in sorted(undefined - defined):
        if FORBIDDEN.match(name):
            findings.append(f"{given.archive}: needs {name}: the core neither throws, uses the global heap, nor starts threads")
        elif name not in lent:
            findings.append(f"{given.archive}: needs {name}, which no library it may use provides")
    if not any("arcalloc" in name for name in defined):
        findings.append(f"{given.archive}: defines nothing of arcalloc")
    tree.finish(findings, len(undefined - defined), "symbols from elsewhere")


main()
