# SPDX-License-Identifier: Apache-2.0
"""A build names the commit it was built from: in its own checkout, outside any, and inside another project's."""
import pathlib
import shutil
import subprocess
import tempfile

import tree

SCRIPT = pathlib.Path("cmake/write_build_identity.cmake")


class build:
    """A copy of the script in a directory, as if that were the top of the sources."""

    def __init__(self, given, directory):
        self.given, self.top, self.header = given, directory, directory.parent / (directory.name + ".h")
        (directory / "cmake").mkdir(parents=True)
        shutil.copy(given.root / SCRIPT, directory / SCRIPT)

    def git(self, *command):
        identity = ["-c", "user.name=nobody", "-c", "user.email=nobody@example.org", "-c", "commit.gpgsign=false"]
        return subprocess.run(["git", *identity, "-C", self.top, *command], capture_output=True, text=True, check=True).stdout.strip()

    def says(self):
        """(commit, dirty) as the header has them after a build."""
        subprocess.run([self.given.cmake, "-DGIT=" + shutil.which("git"), f"-DSOURCE_DIRECTORY={self.top}",
                        f"-DHEADER={self.header}", "-DVERSION=1.2.3", "-DCOMPILER=GNU 12", "-DBUILD_TYPE=Release",
                        "-P", self.top / SCRIPT], check=True)
        macros = dict(line.split(" ", 2)[1:] for line in self.header.read_text().splitlines()
                      if line.startswith("#define") and line.count(" ") >= 2)
        assert macros["ARCALLOC_BUILD_VERSION"] == '"1.2.3"', macros
        return macros["ARCALLOC_BUILD_COMMIT"].strip('"'), macros["ARCALLOC_BUILD_DIRTY"].strip('"')


def main():
    given = tree.arguments("cmake")
    findings, looked_at = [], 0

    def expect(what, found, wanted):
        nonlocal looked_at
        looked_at += 1
        if found != wanted:
            findings.append(f"{what}: says {found}, should say {wanted}")

    with tempfile.TemporaryDirectory() as directory:
        sources = build(given, pathlib.Path(directory) / "sources")
        expect("an exported archive", sources.says(), ("unknown", "unknown"))
        sources.git("init", "-q")
        (sources.top / ".gitignore").write_text("/ignored\n")
        sources.git("add", ".")
        sources.git("commit", "-q", "-m", "first")
        head = sources.git("rev-parse", "HEAD")
        expect("a checkout", sources.says(), (head, "clean"))
        written = sources.header.stat().st_mtime_ns
        expect("a second build", sources.says(), (head, "clean"))
        expect("a second build's header", sources.header.stat().st_mtime_ns, written)
        (sources.top / "ignored").write_text("x")
        expect("an ignored file", sources.says(), (head, "clean"))
        (sources.top / "stray").write_text("x")
        expect("an untracked file", sources.says(), (head, "dirty"))
        (sources.top / "stray").unlink()
        (sources.top / ".gitignore").write_text("/ignored\n/other\n")
        expect("a change", sources.says(), (head, "dirty"))
        sources.git("commit", "-q", "-a", "-m", "second")
        expect("the next commit", sources.says(), (sources.git("rev-parse", "HEAD"), "clean"))
        inner = build(given, sources.top / "third_party/arcalloc")
        sources.git("add", ".")
        sources.git("commit", "-q", "-m", "vendored")
        expect("a copy inside another checkout", inner.says(), ("unknown", "unknown"))
    tree.finish(findings, looked_at, "builds")


main()
