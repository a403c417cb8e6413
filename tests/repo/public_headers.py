# SPDX-License-Identifier: Apache-2.0
"""Each public header compiles alone, without warnings: *.hpp as C++20, also without exceptions and type information;
*.h as C11 too. With every compiler there is. Adapters throw, and those to libraries that may not be installed are
compiled by their tests."""
import shutil
import subprocess

import tree

WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wsign-conversion", "-Wold-style-cast"]
CXX = ["-x", "c++", "-std=c++20", *WARNINGS]
FOREIGN = {"libtorch.hpp", "cuda_resource.hpp"}
C = ["-x", "c", "-std=c11", *WARNINGS[:-1]]


def compile_alone(root, compiler, language, header):
    # Twice, so that a header without a guard is noticed.
    text = f"#include <{header}>\n#include <{header}>\n"
    command = [compiler, *language, "-Werror", "-fsyntax-only", "-I", root / "include", "-"]
    return subprocess.run(command, input=text, capture_output=True, text=True)


def main():
    given = tree.arguments("cxx", "cc")
    compilers = [(given.cxx, given.cc)]
    if shutil.which("clang++-14") and "clang" not in given.cxx:
        compilers.append(("clang++-14", "clang-14"))
    looked_at, findings = 0, []
    for path in tree.files(given.root, "include/", {".hpp", ".h"}):
        adapter = path.parent.name == "adapters"
        if adapter and path.name in FOREIGN:
            continue
        looked_at += 1
        header = path.relative_to("include")
        for cxx, cc in compilers:
            ways = [(cxx, CXX)]
            if not adapter:
                ways.append((cxx, [*CXX, "-fno-exceptions", "-fno-rtti"]))
            if path.suffix == ".h":
                ways.append((cc, C))
            for compiler, language in ways:
                done = compile_alone(given.root, compiler, language, header)
                if done.returncode != 0:
                    findings.append(f"{path}: {compiler} {language[2]}: {done.stderr.strip()}")
    tree.finish(findings, looked_at, "public headers")


main()
