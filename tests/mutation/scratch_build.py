# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree that faults are put into, its build, and the tests that have to notice.

Nothing is written outside the directory it is given. The tests are built once, from the copy without a fault. For a
fault only the objects that its file reaches are compiled, and linked in front of the rest; the killers run one after
the other, cheapest first, until one fails.
"""
import concurrent.futures
import dataclasses
import json
import os
import pathlib
import re
import resource
import shlex
import shutil
import signal
import subprocess
import time

import tree

FLAGS = "-O1 -w"  # warnings are off: a fault may well leave a variable unused
LINKERS = ("lld", "gold")
# Parsed once for the core and once for the tests, not once for each object of each fault.
STANDARD_HEADERS = """\
#include <sys/mman.h>
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#ifdef GTEST_HAS_PTHREAD
#include <gtest/gtest.h>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <vector>
#endif
"""
SEEDS = (1, 2, 3, 5, 8)
SEED_STEPS = 2000
SEED_FILTER = "--gtest_filter=simulation.the_seed_of_the_environment"
MEMORY_BYTES = 12 << 30
OUTPUT_BYTES = 64 << 20
LATE_SECONDS = 1800.0  # of a run without a fault, on a machine that is busy with other things


@dataclasses.dataclass
class Killer:
    """One run of a test program. Its bounds are measured on the code without a fault."""
    name: str
    program: str
    arguments: tuple = ()
    environment: dict = dataclasses.field(default_factory=dict)
    cpu_seconds: float = 0.0
    wall_seconds: float = 0.0


def seed_killer(seed, steps):
    return Killer(f"simulation seed {seed}", "simulation_tests", (SEED_FILTER,),
                  {"ARCALLOC_SIMULATION_SEED": str(seed), "ARCALLOC_SIMULATION_STEPS": str(steps)})


def all_killers():
    return [Killer("c_abi", "c_abi_tests"),
            Killer("unit", "unit_tests", ("--gtest_fail_fast",)),
            *(seed_killer(seed, SEED_STEPS) for seed in SEEDS),
            Killer("simulation", "simulation_tests", ("--gtest_fail_fast",)),
            Killer("cuda", "cuda_tests", ("--gtest_fail_fast",)),
            Killer("recordings", "trace_format_tests", ("--gtest_filter=recording*", "--gtest_fail_fast")),
            Killer("threads", "threads_tests", ("--gtest_fail_fast", "--gtest_repeat=3"))]


class Trouble(Exception):
    """The run cannot go on: not a verdict on any fault."""


def checked(command, what, **more):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False, **more)
    if done.returncode != 0:
        raise Trouble(f"{what} failed:\n{done.stdout[-3000:]}")
    return done.stdout


def output_of(words):
    return words[words.index("-o") + 1]


class ScratchBuild:
    def __init__(self, root, work, jobs):
        self.root, self.copy, self.build = root, work / "tree", work / "build"
        self.mutated = work / "mutated"
        self.jobs = jobs
        self.killers = all_killers()

    # The copy and its build, without a fault.

    def prepare(self):
        for program in ("cmake", "ninja"):
            if shutil.which(program) is None:
                raise Trouble(f"{program} is not installed")
        self._copy_tree()
        self.mutated.mkdir(parents=True, exist_ok=True)
        self.standard = self.build.parent / "standard_headers.hpp"
        self.standard.write_text(STANDARD_HEADERS)
        linker = next((name for name in LINKERS if shutil.which("ld." + name)), None)
        checked(["cmake", "-S", self.copy, "-B", self.build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Mutation",
                 f"-DCMAKE_CXX_FLAGS_MUTATION={FLAGS} -include {self.standard}", f"-DCMAKE_C_FLAGS_MUTATION={FLAGS}",
                 "-DARCALLOC_BUILD_PROGRAM=ON", "-DARCALLOC_INSTALL=OFF",
                 "-DCMAKE_EXE_LINKER_FLAGS=" + (f"-fuse-ld={linker}" if linker else "")], "configuring the copy")
        rows = json.loads((self.build / "compile_commands.json").read_text())
        self.compiles = {output_of(shlex.split(row["command"])): row["command"] for row in rows}
        self.sources = {output_of(shlex.split(row["command"])): pathlib.Path(row["file"]) for row in rows}
        self._parse_standard_headers()
        programs = sorted({killer.program for killer in self.killers})
        checked(["ninja", "-C", self.build, f"-j{self.jobs}", *programs], "building the copy")
        self._read_dependencies()
        self.links = {program: self._link_of(program) for program in programs}
        self._measure()

    def _copy_tree(self):
        wanted = set(tree.files(self.root))
        for path in wanted:
            data, to = (self.root / path).read_bytes(), self.copy / path
            if not to.is_file() or to.read_bytes() != data:
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_bytes(data)
                shutil.copymode(self.root / path, to)
        for path in list(self.copy.rglob("*")):
            if path.is_file() and path.relative_to(self.copy) not in wanted:
                path.unlink()

    def _parse_standard_headers(self):
        """A compiler takes from the directory NAME.gch what was made with its own flags, else it reads NAME."""
        parsed = self.standard.with_name(self.standard.name + ".gch")
        parsed.mkdir(exist_ok=True)
        for name, under in (("core", "src/CMakeFiles/arcalloc.dir/"), ("tests", "tests/unit/CMakeFiles/unit_tests.dir/")):
            if (parsed / name).exists():
                continue
            example = next((output for output in self.compiles if output.startswith(under)), None)
            if example is None:
                raise Trouble(f"found no object below {under}")
            words = shlex.split(self.compiles[example])
            first = words.index("-include")
            words[first:first + 2] = ["-x", "c++-header"]
            words[words.index("-o") + 1] = str(parsed / name)
            words[-1] = str(self.standard)
            checked(words, "parsing the standard headers", cwd=self.build)

    def _read_dependencies(self):
        """self.reached: for each file of the copy, the objects that it is compiled into."""
        self.reached, output = {}, None
        for line in checked(["ninja", "-C", self.build, "-t", "deps"], "reading the dependencies").splitlines():
            if line and not line.startswith(" "):
                output = line.split(":")[0]
            elif line.strip() and output in self.compiles:
                # A compiler cache may have made them relative to the build.
                path = pathlib.Path(os.path.normpath(self.build / line.strip()))
                if path.is_relative_to(self.copy):
                    self.reached.setdefault(str(path.relative_to(self.copy)), []).append(output)

    def _link_of(self, program):
        commands = checked(["ninja", "-C", self.build, "-t", "commands", program], "reading the link commands")
        for piece in reversed(re.split(r" && |\n", commands)):
            words = shlex.split(piece)
            if "-o" in words and pathlib.Path(output_of(words)).name == program:
                break
        else:
            raise Trouble(f"found no command that links {program}")
        archives = {}
        for word in words:
            if word.endswith(".a") and (self.build / word).is_file() and not os.path.isabs(word):
                members = checked(["ninja", "-C", self.build, "-t", "query", word], "reading an archive's objects")
                archives[word] = [line.strip() for line in members.splitlines() if line.strip() in self.compiles]
        return words, archives

    def core_files(self):
        """The files that faults are put into: all of src/ but its backends, and the C ABI's texts."""
        compiled = {str(self.sources[output].relative_to(self.copy)) for output in self.compiles
                    if output.startswith("src/CMakeFiles/arcalloc.dir/")}
        headers = {str(path) for path in tree.files(self.root, "src/", (".hpp", ".h"))}
        found = sorted(path for path in compiled | headers
                       if not path.startswith("src/backend/") and path != "src/c_text.cpp")
        if not found:
            raise Trouble("found no file of the core")
        return found

    def _measure(self):
        for killer in self.killers:
            killer.cpu_seconds, killer.wall_seconds = 300.0, 600.0
            found = self.run(killer, self.build / output_of(self.links[killer.program][0]))
            if found["failed"]:
                raise Trouble(f"{killer.name} fails without any fault: {found['by']}")
            # A machine that is busy with other things stretches wall time, hardly the time on the processor.
            killer.cpu_seconds, killer.wall_seconds = 3 + 4 * found["cpu"], 30 + 20 * found["wall"]
        self.killers.sort(key=lambda killer: killer.cpu_seconds)

    # One fault.

    def text_of(self, file):
        return (self.copy / file).read_text(encoding="utf-8")

    def put(self, file, text):
        """The time of its last change stays: what was built without a fault is not old when the fault is gone."""
        path = self.copy / file
        changed = path.stat()
        path.write_text(text, encoding="utf-8")
        os.utime(path, ns=(changed.st_atime_ns, changed.st_mtime_ns))

    def compile(self, output, flags=None, to=None):
        """Compiles one object of the copy as it is now. Its path, or None where the compiler refuses."""
        to = to or self.mutated / output
        to.parent.mkdir(parents=True, exist_ok=True)
        command = self.compiles[output].replace(FLAGS, flags) if flags else self.compiles[output]
        words = shlex.split(command)
        words[words.index("-o") + 1] = str(to)
        done = subprocess.run(words, cwd=self.build, capture_output=True, check=False)
        return to if done.returncode == 0 else None

    def compile_all(self, outputs, flags=None):
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            return dict(zip(outputs, pool.map(lambda output: self.compile(output, flags), outputs)))

    def same_object(self, output):
        return (self.mutated / output).read_bytes() == (self.build / output).read_bytes()

    def core_objects(self, file):
        return [output for output in self.reached.get(file, ()) if output.startswith("src/CMakeFiles/arcalloc.dir/")]

    def prove_repeatable(self, file):
        """Compiled again without a fault, an object is the same to the byte: so a difference is the fault's."""
        for output in self.core_objects(file)[:1]:
            if self.compile(output) is None or not self.same_object(output):
                raise Trouble(f"{output} is not the same when compiled again: no fault could be told from none")

    def link(self, program, changed):
        """Links a test program with `changed` objects in the place of those of the same name."""
        words, archives = self.links[program]
        linked = self.mutated / program
        command, before = [], set()
        for word in words:
            if word in archives and word not in before:  # a linker may be given an archive twice
                before.add(word)
                command += [str(changed[member]) for member in archives[word] if member in changed]
            command.append(str(changed.get(word, word)))
        command[command.index("-o") + 1] = str(linked)
        checked(command, f"linking {program}", cwd=self.build)
        return linked

    def objects_of(self, program):
        words, archives = self.links[program]
        return {word for word in words if word.endswith(".o")} | {one for members in archives.values() for one in members}

    def run(self, killer, program):
        """Runs a killer. `by` names the test that failed, or what ended it."""
        found = self._run_once(killer, program, killer.wall_seconds)
        if not found["late"]:
            return found
        # A test that waits for a thread is late on a machine that has no time for it: only what is still late by the
        # measure of a run without a fault, made now, hangs.
        unharmed = self._run_once(killer, self.build / output_of(self.links[killer.program][0]), LATE_SECONDS)
        if unharmed["failed"]:
            raise Trouble(f"{killer.name} fails without any fault: {unharmed['by']}")
        killer.wall_seconds = max(killer.wall_seconds, 30 + 20 * unharmed["wall"])
        return self._run_once(killer, program, killer.wall_seconds)

    def _run_once(self, killer, program, wall_seconds):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("ARC")}
        environment.update(killer.environment)
        log = self.mutated / "output.txt"

        def bounded():
            seconds = int(killer.cpu_seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 5))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
            resource.setrlimit(resource.RLIMIT_FSIZE, (OUTPUT_BYTES, OUTPUT_BYTES))
        began, hung = time.monotonic(), False
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        with open(log, "wb") as opened:
            child = subprocess.Popen([program, *killer.arguments], stdout=opened, stderr=subprocess.STDOUT,
                                     env=environment, cwd=self.mutated, preexec_fn=bounded, start_new_session=True)
            try:
                child.wait(timeout=wall_seconds)
            except subprocess.TimeoutExpired:
                hung = True
            finally:
                if child.poll() is None:
                    os.killpg(child.pid, signal.SIGKILL)
                    child.wait()
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"failed": child.returncode != 0, "by": self._cause(log, child.returncode, hung), "cpu": cpu,
                "late": hung, "wall": time.monotonic() - began}

    @staticmethod
    def _cause(log, status, hung):
        with open(log, "rb") as opened:
            opened.seek(max(0, log.stat().st_size - (1 << 20)))
            text = opened.read().decode("utf-8", "replace")
        if status == 0:
            return ""
        # A failed test is named so; the one that crashed is the last that began; C has no names but the failed claim.
        tests = re.findall(r"^\[  FAILED  \] ([\w/.]+)(?=[, ])", text, re.MULTILINE)[:1] or \
            re.findall(r"^\[ RUN      \] (\S+)", text, re.MULTILINE)[-1:] or \
            re.findall(r"^\S+/(\w+\.c:\d+)", text, re.MULTILINE)[:1]
        how = "hangs" if hung or status in (-signal.SIGXCPU, -signal.SIGKILL) else \
            f"ends by signal {-status}" if status < 0 else ""
        return " ".join(part for part in (*tests, how) if part)


def report(text):
    print(text, flush=True)

