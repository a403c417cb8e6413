# SPDX-License-Identifier: Apache-2.0
"""The machine code of a hit: no atomic read-modify-write, no fence, and no call that leads out of the library.

    hit_path_code.py PROGRAM

Disassembles PROGRAM, which is linked with the library, and follows every direct call and jump from the doors of a request and
its free, stopping where the pool's slow way begins. Nothing met before may be a locked instruction, a fence, a system call,
or a call to somewhere that is not in the code: a virtual function (so no driver call and no event), a function of another
library (so no lock, no host memory). The pool's own code must be convicted of some, or this check sees nothing.
"""
import platform
import re
import subprocess
import sys

SKIPPED = 77
DOORS = (
    "arcalloc::allocator::allocate(unsigned long, arcalloc::stream, arcalloc::block&)",
    "arcalloc::allocator::deallocate(arcalloc::block const&)",
    "arcalloc::allocator::deallocate(arcalloc::block const&, arcalloc::stream)",
    "arcalloc::allocator::deallocate(void*)",
    "arcalloc::allocator::deallocate(void*, arcalloc::stream)",
    "arcalloc::allocator::deallocate(void*, unsigned long)",
    "arcalloc_allocate", "arcalloc_deallocate", "arcalloc_deallocate_on", "arcalloc_deallocate_address",
    "arcalloc_deallocate_address_on", "arcalloc_deallocate_address_sized",
)
# Where a call that hits does not go: the pool's mutex; the owner's own fence, where there is no membarrier; a stream of
# the thread's own, which is numbered at its first mention; the clock, which one in 64 hits reads while calls are recorded.
SLOW = ("arcalloc::detail::pool::acquire(", "arcalloc::detail::pool::recycle(", "arcalloc::detail::owner_lock::try_enter_fenced(",
        "arcalloc::this_thread_stream(", "arcalloc::detail::hit_page::begin_stretch(")
TARGET = re.compile(r"<([^+]*?)(?:\+0x[0-9a-f]+)?>$")


def functions_of(program):
    """{name: [instruction]}, and where each calls or jumps to beside itself."""
    said = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", program], capture_output=True, text=True, check=True)
    functions, own = {}, None
    for line in said.stdout.splitlines():
        head = re.fullmatch(r"[0-9a-f]+ <(.*)>:", line)
        if head:
            own = functions.setdefault(head.group(1), [])
        elif own is not None and "\t" in line:
            own.append(line.split("\t", 1)[1].strip())
    return functions


def leads_to(name, instructions):
    for text in instructions:
        target = TARGET.search(text) if re.match(r"(call|j\w+)\b", text) else None
        if target and target.group(1) != name:
            yield target.group(1)


def offence(text):
    if re.match(r"(lock|mfence|lfence|sfence|syscall)\b", text):
        return "is locked, a fence or a system call"
    if re.match(r"xchg\b", text) and "(" in text:
        return "exchanges with memory"
    if re.match(r"(notrack )?(call|jmp)\s+\*", text):
        return "calls what is not in the code"
    if re.match(r"(call|j\w+)\b", text) and "@plt" in text:
        return "calls another library"
    return None


def reached(functions, doors, stops):
    seen, waiting, stopped = set(), list(doors), set()
    while waiting:
        name = waiting.pop()
        if name in seen or "@plt" in name:
            continue
        if name.startswith(stops):
            stopped.add(name)
            continue
        seen.add(name)
        waiting += leads_to(name, functions.get(name, []))
    return seen, stopped


def main():
    if platform.machine() != "x86_64":
        print(f"skipped: reads the code of x86_64, not of {platform.machine()}")
        return SKIPPED
    functions = functions_of(sys.argv[1])
    findings = [f"{door}: not in {sys.argv[1]}" for door in DOORS if not functions.get(door)]
    seen, stopped = reached(functions, DOORS, SLOW)
    findings += [f"{name}: {text}: {offence(text)}" for name in sorted(seen) for text in functions.get(name, []) if offence(text)]
    findings += [f"no door leads to {slow}...)" for slow in SLOW if not any(name.startswith(slow) for name in stopped)]
    slow_code, _ = reached(functions, stopped, ("nothing",))
    if not any(offence(text) for name in slow_code for text in functions.get(name, [])):
        findings.append("the slow way is as innocent as the hit path: this check sees nothing")
    for finding in findings:
        print(finding)
    print(f"{len(DOORS)} doors, {len(seen)} functions: {', '.join(sorted(seen - set(DOORS)))}")
    return 1 if findings else 0


sys.exit(main())
