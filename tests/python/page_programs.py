# SPDX-License-Identifier: Apache-2.0
"""Runs the programs of docs/python.md as they stand there: the blocks of code that import something.

    page_programs.py PAGE [EXAMPLE]

Each must end by itself; the first must print a step report, and be EXAMPLE's from its first import on.
"""
import re
import subprocess
import sys
import textwrap


def main():
    with open(sys.argv[1], encoding="utf-8") as opened:
        blocks = re.findall(r"(?m)(?:^ {4}.*\n|^\n)+", opened.read())
    programs = [textwrap.dedent(block) for block in blocks if re.search(r"^ {4}import \w+$", block, re.MULTILINE)]
    if len(programs) < 2:
        sys.exit(f"{sys.argv[1]}: has {len(programs)} programs, expected 2 or more")
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as opened:
            example = opened.read()
        if example[example.find("import "):].strip() != programs[0].strip():
            sys.exit(f"{sys.argv[1]}: its first program is not that of {sys.argv[2]}")
    for number, program in enumerate(programs):
        done = subprocess.run([sys.executable, "-B", "-c", program], capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"{sys.argv[1]}: program {number + 1} fails:\n{program}{done.stderr}")
        if number == 0 and not re.search(r"^arcalloc step 16: .*hit rate ", done.stdout, re.MULTILINE):
            sys.exit(f"{sys.argv[1]}: its first program says {done.stdout!r}")
    print(f"{len(programs)} programs of the page run")


main()
