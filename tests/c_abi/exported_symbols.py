# SPDX-License-Identifier: Apache-2.0
"""A shared library of arcalloc's objects exports the C ABI, and nothing else of ours.

    exported_symbols.py LIBRARY HEADER GOLDEN

Compares three lists of names: what the library exports, what the header declares, and the golden
file, which is what callers may have linked against: a name may be added to it, and none taken away
without a new ABI version.
"""
import re
import subprocess
import sys


def exported(library):
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = {fields[-1].split("@")[0] for fields in map(str.split, said.splitlines()) if len(fields) >= 3}
    # The C++ library's own templates are exported wherever they are instantiated.
    return {name for name in names if "arcalloc" in name}


def declared(header):
    with open(header, encoding="utf-8") as opened:
        text = re.sub(r"/\*.*?\*/", " ", opened.read(), flags=re.DOTALL)
    return set(re.findall(r"ARCALLOC_API\b[^;(]*?\b(arcalloc_\w+)\s*\(", text))


def main():
    library, header, golden = sys.argv[1:]
    with open(golden, encoding="utf-8") as opened:
        expected = opened.read().split()
    findings = []
    if expected != sorted(set(expected)) or not expected:
        findings.append(f"{golden}: must be sorted, each name once, and not empty")
    lists = {library: exported(library), header: declared(header)}
    for where, names in lists.items():
        findings += [f"{where}: lacks {name} of {golden}" for name in sorted(set(expected) - names)]
        findings += [f"{where}: has {name}, which {golden} lacks" for name in sorted(names - set(expected))]
    for finding in findings:
        print(finding)
    if findings:
        sys.exit(1)
    print(f"{len(expected)} exported symbols: as they should be")


main()
