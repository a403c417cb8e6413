# SPDX-License-Identifier: Apache-2.0
"""One word per idea: the words that the glossary rules out do not occur in names, and nothing is left to do later.

Names are looked at word by word (`free_list` is `free` and `list`), in code only: comments may speak
of a driver allocation. Names that are not ours are let through.
"""
import functools
import re

import code_text
import tree

BANNED = {
    "active": "allocated or pending", "inactive": "cached or slack",
    "limit": "max or capacity", "limits": "max or capacity",
    "release": "trim, drain or free", "released": "trimmed, drained or freed", "releases": "trims, drains or frees",
    "allocation": "block", "allocations": "blocks",
    "util": "what it does", "utils": "what it does", "helper": "what it does", "helpers": "what it does",
    "manager": "what it does", "misc": "what it does", "impl": "what it is",
}
# The C++ library's, the system's, the CUDA driver's, and what the glossary allows: the act, not the piece of memory.
NOT_OURS = re.compile(r"memory_order_release|driver_allocation|numeric_limits|release_graph|std::(unique_ptr|atomic)\S*release"
                      r"|[.>]release\b|[gs]etrlimit|rlimit\w*|RLIMIT_\w+|cudaErrorMemoryAllocation"
                      r"|\bcu[A-Z]\w*|\bCU(?:DA)?_[A-Z]\w*")
LATER = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X|HA" r"CK)\b")


@functools.cache
def words_of(identifier):
    spaced = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", identifier)
    return [word for word in spaced.lower().split("_") if word]


def main():
    given = tree.arguments()
    looked_at, findings = 0, []
    for path in tree.files(given.root):
        text = (given.root / path).read_text(encoding="utf-8", errors="replace")
        looked_at += 1
        # The name of a page is prose, like its text.
        for part in path.parts if path.suffix != ".md" else ():
            for word in re.split(r"[._-]", part.lower()):
                if word in BANNED:
                    findings.append(f"{path}: `{word}` in a file name; say {BANNED[word]}")
        for number, line in enumerate(text.splitlines(), 1):
            if LATER.search(line):
                findings.append(f"{path}:{number}: `{LATER.search(line).group(0)}`: do it or drop it")
        if path.suffix not in tree.CODE:
            continue
        code = NOT_OURS.sub(" ", code_text.without_comments_and_literals(text))
        for number, line in enumerate(code.splitlines(), 1):
            if re.match(r"\s*#\s*include\b", line):
                continue
            for identifier in re.findall(r"[A-Za-z_]\w*", line):
                for word in words_of(identifier):
                    if word in BANNED:
                        findings.append(f"{path}:{number}: `{identifier}`: not `{word}`; say {BANNED[word]}")
    tree.finish(findings, looked_at, "files without banned words")


main()
