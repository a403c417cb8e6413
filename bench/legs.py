# SPDX-License-Identifier: Apache-2.0
"""Who is measured, and how one of them is run: a leg is a peer of arcalloc_bench in a process of its own.

An allocator that takes the place of the process's malloc is preloaded into that process, so it never meets another leg.
"""
import json
import os
import pathlib
import re
import subprocess

# Name, and the shared object of Debian's package.
MALLOCS = (
    ("mimalloc", "libmimalloc.so.2", "libmimalloc2.0"),
    ("jemalloc", "libjemalloc.so.2", "libjemalloc2"),
    ("tcmalloc", "libtcmalloc_minimal.so.4", "libtcmalloc-minimal4"),
)
LIBRARY_DIRECTORIES = ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")
COUNTED_STEPS = (20, 60)


class Failed(Exception):
    pass


class Leg:
    def __init__(self, program, peer, name=None, what=None, preload=None):
        self.program, self.preload = program, preload
        self.peer = peer["name"]
        self.name = name or peer["name"]
        self.what = what or peer["what"]
        self.asks_driver, self.bound = peer["asks_driver"], peer["bound"]

    def environment(self):
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ARC_")}
        kept.pop("LD_PRELOAD", None)
        if self.preload:
            kept["LD_PRELOAD"] = self.preload
        return kept

    def run(self, mode, *flags, below=()):
        """One run of the program, perhaps below another; what it printed on both streams."""
        command = [*below, str(self.program), self.peer, mode, *map(str, flags)]
        done = subprocess.run(command, env=self.environment(), capture_output=True, text=True)
        if done.returncode != 0:
            raise Failed(f"{self.name}: {' '.join(command)}: exit status {done.returncode}\n{done.stderr[-2000:]}")
        return done

    def measure(self, mode, *flags):
        found = json.loads(self.run(mode, *flags).stdout)
        if found["refused"] and "--bound-mib" not in flags:
            raise Failed(f"{self.name}: {mode}: {found['refused']} calls were refused")
        return found

    def scale(self, part):
        return json.loads(self.run("scale", part).stdout)

    def instructions_per_pair(self, mode, first):
        """Of the whole program at 60 steps minus 20, over the pairs between: start and end cancel out."""
        counted = []
        for steps in COUNTED_STEPS:
            done = self.run(mode, "--steps", steps, "--first", first,
                            below=("valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null"))
            collected = re.search(r"Collected : (\d+)", done.stderr)
            if not collected:
                raise Failed(f"{self.name}: callgrind collected nothing\n{done.stderr[-2000:]}")
            counted.append((int(collected.group(1)), json.loads(done.stdout)["pairs"]))
        (few, few_pairs), (many, many_pairs) = counted
        return (many - few) / (many_pairs - few_pairs)


def find_library(name):
    for directory in LIBRARY_DIRECTORIES:
        if (pathlib.Path(directory) / name).exists():
            return str(pathlib.Path(directory) / name)
    return None


def all_legs(program):
    """The legs that can be run here, what the program says of itself, and why others are absent: {name: reason}."""
    said = subprocess.run([str(program), "--list"], capture_output=True, text=True, check=True)
    built = json.loads(said.stdout)
    found, absent = [], {}
    for peer in built.pop("peers"):
        if peer["name"] != "malloc":
            found.append(Leg(program, peer))
            continue
        found.append(Leg(program, peer, "glibc", "malloc of the C library"))
        for name, library, package in MALLOCS:
            path = find_library(library)
            if path:
                found.append(Leg(program, peer, name, f"{library}, preloaded", path))
            else:
                absent[name] = f"Debian's {package} is not installed"
    if not any(leg.name == "cub" for leg in found):
        absent["cub"] = "Debian's libcub-dev was not installed when the program was built"
    absent["RMM"] = "no leg: its packages stand on CUDA's runtime library"
    absent["PyTorch"] = "no leg: its device allocator comes only with builds that need CUDA"
    return found, built, absent
