# SPDX-License-Identifier: Apache-2.0
"""Runs the Python of docs/c_abi.md as it stands there, over the library that LD_LIBRARY_PATH leads to."""
import contextlib
import io
import re
import sys
import textwrap


def main():
    with open(sys.argv[1], encoding="utf-8") as opened:
        blocks = re.findall(r"(?m)(?:^ {4}.*\n|^\n)+", opened.read())
    programs = [textwrap.dedent(block) for block in blocks if "import ctypes" in block]
    if len(programs) != 1:
        sys.exit(f"{sys.argv[1]}: has {len(programs)} programs that import ctypes, expected 1")
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
        exec(compile(programs[0], sys.argv[1], "exec"), {})
    expected = "ok 1 request, 1048576 bytes\n"
    if not said.getvalue().endswith(expected):
        sys.exit(f"{sys.argv[1]}: its program says {said.getvalue()!r}, expected {expected!r} at the end")
    print("the Python of the page runs")


main()
