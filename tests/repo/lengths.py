# SPDX-License-Identifier: Apache-2.0
"""No file of code has more than 500 lines, no function more than 70.

A function is found by its layout, which clang-format guarantees: a line that ends in `) {` (with
const, noexcept and the like between), closed by the first `}` at the same depth.
"""
import re

import code_text
import tree

FILE_LINES_MAX = 500
FUNCTION_LINES_MAX = 70
OPENS = re.compile(r"\)[\w\s&:<>,()\-]*\{$")
NOT_A_FUNCTION = re.compile(r"^\s*(\}\s*)?(else|if|for|while|switch|do|catch|namespace|class|struct|enum|union)\b")


def functions(lines):
    """Yields (first line, number of lines), both counted from 1."""
    for first, line in enumerate(lines):
        if not OPENS.search(line.rstrip()) or NOT_A_FUNCTION.match(line):
            continue
        depth = 0
        for last in range(first, len(lines)):
            depth += lines[last].count("{") - lines[last].count("}")
            if depth <= 0:
                yield first + 1, last - first + 1
                break


def main():
    given = tree.arguments()
    looked_at, findings, longest = 0, [], (0, "")
    for path in tree.files(given.root, suffixes=tree.CODE):
        text = (given.root / path).read_text(encoding="utf-8")
        lines = code_text.without_comments_and_literals(text).splitlines()
        if len(lines) > FILE_LINES_MAX:
            findings.append(f"{path}:{len(lines)}: more than {FILE_LINES_MAX} lines")
        for first, length in functions(lines):
            looked_at += 1
            longest = max(longest, (length, f"{path}:{first}"))
            # A test's list of cases may be as long as it is.
            if length > FUNCTION_LINES_MAX and path.parts[0] != "tests":
                findings.append(f"{path}:{first}: a function of {length} lines, more than {FUNCTION_LINES_MAX}")
    print(f"longest function: {longest[0]} lines at {longest[1]}")
    tree.finish(findings, looked_at, "functions")


main()
