# SPDX-License-Identifier: Apache-2.0
"""The repository checks checked: each is run over copies of the tree with flaws, and must find every one.

A canary is (check, the flaw, what the check must say of it). The flaws of a check share a copy, since a check reads the
whole tree; a flaw that is `alone`, after which there is nothing left to look into, has one to itself. A check that
passes a flawed tree, or that names something else, fails here.
"""
import pathlib
import shutil
import subprocess
import sys
import tempfile

import tree

HERE = pathlib.Path(__file__).resolve().parent


class Alone:
    """A flaw that has a copy of the tree to itself."""

    def __init__(self, flaw):
        self.flaw = flaw

    def __call__(self, root):
        self.flaw(root)


def append(path, text):
    return lambda root: (root / path).write_text((root / path).read_text(encoding="utf-8") + text, encoding="utf-8")


def write(path, text):
    def act(root):
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    return act


def replace(path, old, new):
    def act(root):
        text = (root / path).read_text(encoding="utf-8")
        assert old in text, f"{path} has no {old!r}: mend this canary"
        (root / path).write_text(text.replace(old, new), encoding="utf-8")
    return act


def remove(path):
    def act(root):
        target = root / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()
    return Alone(act)


def with_one_header(flaw):
    """The flaw alone with counters.h: to compile every header again for every canary takes long."""
    def act(root):
        for header in (root / "include/arcalloc").rglob("*.h*"):
            if header.name != "counters.h":
                header.unlink()
        flaw(root)
    return Alone(act)


LICENCE = "// SPDX-License-Identifier: Apache-2.0\n"
LONG_FUNCTION = LICENCE + "void f() {\n" + "  ;\n" * 70 + "}\n"

CANARIES = [
    ("layers", remove("src/README.md"), "src/README.md: missing"),
    ("layers", write("src/stray.cpp", LICENCE), "src/stray.cpp:1: not listed"),
    ("layers", append("src/base.hpp", '#include "pool.hpp"\n'), "includes pool.hpp, which src/README.md lists below it"),
    ("layers", append("src/README.md", "- `gone.cpp`\n"), "lists `gone.cpp`, which does not exist"),
    ("layers", append("src/pool.cpp", '#include "backend/host/host_backend.cpp"\n'), "only through its contract"),
    ("layers", append("src/backend/host/host_backend.cpp", '#include <arcalloc/allocator.hpp>\n'), "a backend sees only"),
    ("layers", append("src/backend/host/host_backend.cpp", '#include "../../base.hpp"\n'), "a backend sees only"),
    ("layers", append("decode/session.hpp", '#include "../src/pool.hpp"\n'), "only <arcalloc/...> is for it"),
    ("layers", append("decode/session.hpp", '#include <arcalloc/pool.hpp>\n'), "is not a public header"),
    ("layers", append("include/arcalloc/status.hpp", '#include "status.hpp"\n'), "public headers include public headers"),
    ("licence_lines", write("decode/stray.cpp", "int x;\n"), "decode/stray.cpp:1: no line"),
    ("licence_lines", write("tools/stray", "#!/bin/sh\n"), "tools/stray:1: no line"),
    ("licence_lines", remove("LICENSE"), "LICENSE: missing"),
    ("words", append("src/base.hpp", "int active_blocks;\n"), "`active_blocks`: not `active`"),
    ("words", append("src/base.hpp", "int memory_limit;\n"), "`memory_limit`: not `limit`"),
    ("words", append("src/base.hpp", "void release_block();\n"), "`release_block`: not `release`"),
    ("words", append("src/base.hpp", "struct allocation;\n"), "`allocation`: not `allocation`"),
    ("words", write("src/pool_util.hpp", LICENCE), "`util` in a file name"),
    ("words", append("README.md", "TO" "DO: later\n"), "do it or drop it"),
    ("lengths", write("decode/long.cpp", LONG_FUNCTION), "a function of 72 lines"),
    ("lengths", write("decode/longer.cpp", LICENCE + ";\n" * 500), "more than 500 lines"),
    ("format", append("src/base.hpp", "int   x ;\n"), "src/base.hpp"),
    ("named_bugs", replace("src/stream_work.cpp", "device_.synchronous()", "device_.is_synchronous()"), "occurs 0 times"),
    ("scripts", append("run", "echo $undefined_thing\n"), "run:"),
    ("scripts", write("tools/stray", "#!/usr/bin/env bash\ntrue\n"), "no `set -euo pipefail`"),
    ("licence_lines", write("rust/src/stray.rs", "fn f() {}\n"), "rust/src/stray.rs:1: no line"),
    ("versions", replace("CMakeLists.txt", "VERSION 0.1.0", "VERSION 0.1.1"), "rust/Cargo.toml: says 0.1.0, CMakeLists.txt says 0.1.1"),
    ("versions", replace("rust/Cargo.lock", 'version = "0.1.0"', 'version = "9"'), "rust/Cargo.lock: says 9"),
    ("versions", remove("rust/Cargo.toml"), "rust/Cargo.toml: says no version"),
    ("manual", append("man/arcalloc.1", ".Sh BAD\n.Zz\n"), "man/arcalloc.1"),
    ("manual", remove("man"), "found no manual pages"),
    ("public_headers", with_one_header(write("include/arcalloc/stray.hpp", "std::size_t x;\n")), "include/arcalloc/stray.hpp"),
    ("public_headers", with_one_header(append("include/arcalloc/counters.h", "class x;\n")), "include/arcalloc/counters.h"),
    ("public_headers", with_one_header(write("include/arcalloc/stray.h", "typedef struct stray { int x; } stray;\n")), "redefinition"),
    ("documents", replace("docs/settings.md", "`ARC_ALLOC_CACHE_STATS`", "`ARC_ALLOC_CACHE_STATE`"), "no row for `ARC_ALLOC_CACHE_STATS`"),
    ("documents", append("README.md", "ARC_ALLOC_NOTHING\n"), "ARC_ALLOC_NOTHING is not a setting"),
    ("documents", replace("docs/statistics.md", "`driver_frees`", "`driver_freed`"), "no row for `driver_frees`"),
    ("documents", append("docs/statistics.md", "| `nothing` | |\n"), "`nothing` is not in counters.h"),
    ("documents", replace("docs/statuses.md", "`double_free`", "`twice_freed`"), "no row for `double_free`"),
    ("documents", append("docs/decode.md", "See `docs/nothing.md`.\n"), "`docs/nothing.md` does not exist"),
    ("documents", append("docs/decode.md", "`arcalloc decode --nothing`\n"), "arcalloc decode has no --nothing"),
    ("documents", replace("man/arcalloc.1", "Fl -tokens", "Fl -token"), "does not explain --tokens"),
    ("documents", replace("docs/statistics.md", "frees taken", "frees seen"), "says of `frees`: frees taken"),
    ("documents", replace("examples/prometheus/alerts.yml", "arcalloc_steps_total", "arcalloc_steps"),
     "arcalloc_steps is no series of the metrics"),
    ("documents", remove("docs/statistics.md"), "docs/statistics.md: missing"),
    ("json_keys", append("README.md", "\n"), "does not explain `nonsense` of the result"),
    ("json_keys", append("README.md", "\n"), "explains `tokens_equal`, which the result does not have"),
    ("json_keys", append("README.md", "\n"), "explains `outcome`, which a leg does not have"),
]

# Stands in for the program, so that the canaries need no build: its flags are read from the manual page, and the last
# argument of a run is where its JSON goes.
PROGRAM = """#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
for last; do :; done
if [ "$last" != --help ]; then echo '{{"schema": "x", "nonsense": 1, "legs": [{{}}]}}' >"$last"; exit; fi
sed -n 's/.*Fl \\(-[a-z-]*\\).*/  -\\1/p' {manual}
"""


SYMBOL_CANARIES = [
    ("int arcalloc_f() { throw 1; }", "needs __cxa_throw"),
    ("int* arcalloc_f() { return new int; }", "needs _Znwm"),
    ("int elsewhere(); int arcalloc_f() { return elsewhere(); }", "needs _Z9elsewherev"),
    ("int f(int* p) { return *p; }", "defines nothing of arcalloc"),
]


def run_symbols(scratch, given, code):
    source, compiled, archive = scratch / "canary.cpp", scratch / "canary.o", scratch / "libcanary.a"
    source.write_text(code + "\n")
    archive.unlink(missing_ok=True)
    subprocess.run([given.cxx, "-c", "-O1", source, "-o", compiled], check=True)
    subprocess.run(["ar", "rc", archive, compiled], check=True)
    return subprocess.run([sys.executable, "-B", HERE / "symbols.py", "--root", given.root, "--archive", archive,
                           "--cxx", given.cxx], capture_output=True, text=True)


def run_check(name, root, given, program):
    extra = {"public_headers": ["--cxx", given.cxx, "--cc", given.cc],
             "documents": ["--program", program], "json_keys": ["--program", program]}.get(name, [])
    return subprocess.run([sys.executable, "-B", HERE / (name + ".py"), "--root", root, *extra],
                          capture_output=True, text=True)


def copies():
    """For each copy of the tree that is wanted: (the check, [(the flaw, what must be said)])."""
    shared = {}
    for check, flaw, expected in CANARIES:
        if isinstance(flaw, Alone):
            yield check, [(flaw, expected)]
        else:
            shared.setdefault(check, []).append((flaw, expected))
    yield from shared.items()


def copy_tree(root, copy):
    for path in tree.files(root):
        if path.parts[:3] != ("tests", "fuzz", "corpus"):  # half of all files, and none is looked into
            (copy / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(root / path, copy / path)


def main():
    given = tree.arguments("cxx", "cc")
    findings, looked_at, unchecked = [], 0, set()

    def judge(check, done, expected):
        nonlocal looked_at
        looked_at += 1
        if done.returncode != 1 or expected not in done.stdout:
            findings.append(f"{check}: should have said `{expected}`; said, with status {done.returncode}:\n"
                            + done.stdout[-2000:] + done.stderr[-500:])

    with tempfile.TemporaryDirectory() as directory:
        scratch = pathlib.Path(directory)
        for code, expected in SYMBOL_CANARIES:
            judge("symbols", run_symbols(scratch, given, code), expected)
        program = scratch / "program"
        program.write_text(PROGRAM.format(manual=given.root / "man/arcalloc.1"))
        program.chmod(0o755)
        for check, flawed in copies():
            copy = scratch / "tree"
            copy_tree(given.root, copy)
            for flaw, _ in flawed:
                flaw(copy)
            done = run_check(check, copy, given, program)
            shutil.rmtree(copy)
            if done.returncode == tree.SKIPPED:
                unchecked.add(check)
                continue
            for _, expected in flawed:
                judge(check, done, expected)
    for check in sorted(unchecked):
        print(f"not tried, its tool is not installed: {check}")
    tree.finish(findings, looked_at, "canaries")


main()
