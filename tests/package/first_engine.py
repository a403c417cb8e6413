# SPDX-License-Identifier: Apache-2.0
"""Follows docs/first_engine.md to the letter, in a clone of its own, and says how long each language took.

    first_engine.py SOURCES SCRATCH [--install] [LANGUAGE...]

Each section's lines run in one shell in SCRATCH/clone, and must end with a step report. Without --install the lines with
apt-get are left out, and of what all sections say alike the build is there already after the first.
Exit status: 0; 1 where a section fails or there is none; 77 where SOURCES is no checkout.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import textwrap
import time

LANGUAGES = ("C++", "C", "Rust", "Python")
SKIPPED = 77
REPORT = re.compile(r"^arcalloc step 16: .*hit rate ", re.MULTILINE)


def sections(page):
    """{heading: its first block of lines to type}"""
    found = {}
    for heading, body in re.findall(r"^## (.*)\n((?:(?!## ).*\n?)*)", page, re.MULTILINE):
        block = re.search(r"(?:^ {4}.*\n)+", body, re.MULTILINE)
        if block:
            found[heading] = textwrap.dedent(block.group(0)).splitlines()
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sources", type=pathlib.Path)
    parser.add_argument("scratch", type=pathlib.Path)
    parser.add_argument("--install", action="store_true", help="run the lines with apt-get too; needs root")
    parser.add_argument("languages", nargs="*", metavar="LANGUAGE", default=LANGUAGES)
    given = parser.parse_args()
    page = sections((given.sources / "docs/first_engine.md").read_text(encoding="utf-8"))
    if not set(given.languages) <= set(page):
        sys.exit(f"docs/first_engine.md: has sections for {sorted(page)}, expected {sorted(given.languages)}")
    shutil.rmtree(given.scratch, ignore_errors=True)
    given.scratch.mkdir(parents=True)
    clone = given.scratch / "clone"
    if not (given.sources / ".git").exists():
        print(f"skipped: {given.sources} is no git checkout to clone")
        return SKIPPED
    # A checkout may belong to somebody else than who tests it.
    trusting = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "safe.directory", "GIT_CONFIG_VALUE_0": "*"}
    subprocess.run(["git", "clone", "--quiet", "--no-hardlinks", given.sources, clone], check=True, env={**os.environ, **trusting})
    # A home of its own to install into; tools that keep themselves in the real one still find it.
    home = pathlib.Path.home()
    kept = {name: str(home / place) for name, place in (("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo"))
            if (home / place).is_dir()}
    surroundings = {**kept, **os.environ, "HOME": str(given.scratch), "DEBIAN_FRONTEND": "noninteractive"}
    for language in given.languages:
        lines = [line if "apt-get" not in line else line.replace("install", "install --yes") for line in page[language]
                 if given.install or "apt-get" not in line]
        began = time.monotonic()
        done = subprocess.run(["bash", "-e"], input="\n".join(lines) + "\n", cwd=clone, env=surroundings,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        seconds = time.monotonic() - began
        if done.returncode != 0 or not REPORT.search(done.stdout):
            sys.exit(f"{language}: no step report after {seconds:.0f} s, exit status {done.returncode}:\n{done.stdout[-3000:]}")
        print(f"{language}: a step report after {seconds:.0f} s", flush=True)
    return 0


sys.exit(main())
