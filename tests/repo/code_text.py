# SPDX-License-Identifier: Apache-2.0
"""Reads C++ as text: what is code, with comments and literals blanked out, line for line."""
import re

PIECE = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)"""
    r"""|(?P<raw>R"(?P<tag>[^()\s\\]*)\(.*?\)(?P=tag)")"""
    r"""|(?P<text>"(?:[^"\\\n]|\\.)*")"""
    r"""|(?P<character>(?<![0-9a-fA-F])'(?:[^'\\\n]|\\.)+')""",
    re.DOTALL | re.VERBOSE)


def without_comments_and_literals(source):
    def blank(match):
        return re.sub(r"[^\n]", " ", match.group(0))
    return PIECE.sub(blank, source)


def includes(source):
    """Yields (line number, text between the brackets or quotes, whether in quotes)."""
    for number, line in enumerate(source.splitlines(), 1):
        match = re.match(r'\s*#\s*include\s*(?:<([^>]+)>|"([^"]+)")', line)
        if match:
            yield number, match.group(1) or match.group(2), match.group(2) is not None
