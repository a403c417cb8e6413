# SPDX-License-Identifier: Apache-2.0
"""The shared library exports the C ABI and nothing else, each name under its version, and has the soname it should.

    exported_symbols.py LIBRARY HEADER GOLDEN

Compares three lists of names: what the library exports, what the header declares, and the golden
file, which is what callers may have linked against: a name may be added to it, and none taken away
without a new ABI version.
"""
import re
import subprocess
import sys


SONAME = "libarcalloc.so.0"
VERSION = re.compile(r"ARCALLOC_\d+\.\d+")


def exported(library, findings):
    said = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    names = set()
    for fields in map(str.split, said.splitlines()):
        name, _, version = fields[-1].partition("@@")
        if fields[-2] == "A" and VERSION.fullmatch(name):
            continue  # the version itself
        names.add(name)
        if not VERSION.fullmatch(version):
            findings.append(f"{library}: {name} has the version {version!r}")
    return names


def soname(library):
    said = subprocess.run(["readelf", "-d", library], capture_output=True, text=True, check=True).stdout
    return re.findall(r"\(SONAME\).*\[(.*)\]", said)


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
    if soname(library) != [SONAME]:
        findings.append(f"{library}: has the soname {soname(library)}, expected {SONAME}")
    lists = {library: exported(library, findings), header: declared(header)}
    for where, names in lists.items():
        findings += [f"{where}: lacks {name} of {golden}" for name in sorted(set(expected) - names)]
        findings += [f"{where}: has {name}, which {golden} lacks" for name in sorted(names - set(expected))]
    for finding in findings:
        print(finding)
    if findings:
        sys.exit(1)
    print(f"{len(expected)} exported symbols: as they should be")


main()
