# SPDX-License-Identifier: Apache-2.0
"""What requests and frees cost in instructions where they hit, compared exactly with a golden file.

    compare.py PROGRAM GOLDEN

Runs PROGRAM (cases.cpp) under callgrind, which repeats to the instruction on one binary: from the mark at a case's begin to
that at its end, every call that the played loop makes into the library, with all that it calls in turn. GOLDEN is for one
compiler; one without a file, and a machine without valgrind, is skipped with the reason. With ARCALLOC_UPDATE_GOLDEN=1 in
the environment the file is written instead, and what changed is said.
"""
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77
LOOP = "::play_step("  # bench/driven.hpp
FREES = ("arcalloc::allocator::deallocate(", "arcalloc_deallocate")
REQUESTS = ("arcalloc::allocator::allocate(", "arcalloc_allocate")
HEAD = """# Instructions of all requests, and of all frees, of a case; `tests/instructions/compare.py` compares exactly.
# Written by ARCALLOC_UPDATE_GOLDEN=1 ctest --test-dir BUILD -R instructions.golden
#
# case pairs requests frees
"""


def fail(why):
    print(why)
    sys.exit(1)


def run_cases(program):
    """[(case, pairs)] as the program played them, and callgrind's text, a part for each case."""
    with tempfile.TemporaryDirectory() as directory:
        out = pathlib.Path(directory) / "callgrind.out"
        done = subprocess.run(
            ["valgrind", "-q", "--tool=callgrind", f"--callgrind-out-file={out}", "--combine-dumps=yes", "--compress-strings=no",
             "--compress-pos=no", "--zero-before=begin_of_case", "--dump-before=end_of_case", program],
            capture_output=True, text=True, env={"LC_ALL": "C", "PATH": os.environ["PATH"]})
        if done.returncode != 0:
            fail(f"{program}: exit status {done.returncode}\n{done.stderr}")
        cases = [(name, int(pairs)) for name, pairs in map(str.split, done.stdout.splitlines())]
        parts = re.split(r"^part: \d+$", out.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
    # What ran after the last case is a part of its own.
    if not cases or len(parts) != len(cases) + 1:
        fail(f"{len(cases)} cases were played, but callgrind wrote {len(parts)} parts; expected one more than cases")
    return cases, parts


def called_from_loop(part, callees):
    """How often the loop called any of these, and the instructions of these calls."""
    calls = instructions = 0
    caller = callee = ""
    lines = iter(part.splitlines())
    for line in lines:
        if line.startswith("fn="):
            caller = line[3:]
        elif line.startswith("cfn="):
            callee = line[4:]
        elif line.startswith("calls="):
            cost = int(next(lines).split()[1])
            if LOOP in caller and callee.startswith(callees):
                calls += int(line[6:].split()[0])
                instructions += cost
    return calls, instructions


def count(program):
    found = {}
    cases, parts = run_cases(program)
    for (name, pairs), part in zip(cases, parts):
        (requests, request_cost), (frees, free_cost) = (called_from_loop(part, REQUESTS), called_from_loop(part, FREES))
        if requests != pairs or frees != pairs:
            fail(f"{name}: {pairs} pairs were played, but callgrind saw {requests} requests and {frees} frees")
        found[name] = (pairs, request_cost, free_cost)
    return found


def read_golden(path):
    rows = [line.split() for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")]
    return {name: tuple(map(int, numbers)) for name, *numbers in rows}


def as_pair(counted):
    if counted is None:
        return "nothing"
    pairs, requests, frees = counted
    return f"{requests / pairs:.2f} + {frees / pairs:.2f} = {(requests + frees) / pairs:.2f} (all: {requests}, {frees})"


def main():
    program, golden = sys.argv[1], pathlib.Path(sys.argv[2])
    updates = os.environ.get("ARCALLOC_UPDATE_GOLDEN") == "1"
    if shutil.which("valgrind") is None:
        print("skipped: valgrind is not installed")
        return SKIPPED
    if not golden.exists() and not updates:
        print(f"skipped: no golden file for this compiler ({golden.name})")
        return SKIPPED
    expected = read_golden(golden) if golden.exists() else {}
    found = count(program)
    different = [name for name in {**expected, **found} if expected.get(name) != found.get(name)]
    for name, counted in found.items():
        print(f"{name}: {as_pair(counted)}")
    for name in different:
        print(f"{golden.name}: {name}: expected {as_pair(expected.get(name))}, found {as_pair(found.get(name))}")
    if updates:
        rows = [f"{name} {' '.join(map(str, counted))}\n" for name, counted in found.items()]
        golden.write_text(HEAD + "".join(rows), encoding="utf-8")
        return 0
    return 1 if different else 0


sys.exit(main())
