# SPDX-License-Identifier: Apache-2.0
"""The wheel: what is in it, that RECORD says so, and that it works from a directory where nothing else is.
`ARCALLOC_PYTHON` is the directory of the package's sources."""
import base64
import csv
import hashlib
import io
import os
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile
import unittest
import zipfile

SOURCES = pathlib.Path(os.environ["ARCALLOC_PYTHON"])
VERSION = re.search(r'^__version__ = "(.*)"', (SOURCES / "arcalloc/__init__.py").read_text(encoding="utf-8"), re.M)[1]
OWN = f"arcalloc-{VERSION}.dist-info"
# -I: neither PYTHONPATH nor the user's packages.
USE = """
import sys
sys.path.insert(0, sys.argv[1])
import importlib.metadata
import arcalloc
assert arcalloc.__file__.startswith(sys.argv[1]), arcalloc.__file__
assert importlib.metadata.version("arcalloc") == arcalloc.__version__
with arcalloc.Device(1 << 26) as device, arcalloc.Allocator(device) as memory:
    memory.allocate(5000).free()
    print(memory.counters()["requests"], "request")
"""


def run(*command):
    return subprocess.run([sys.executable, "-B", *command], capture_output=True, text=True)


class Wheel(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)

    def build(self, where):
        done = run(SOURCES / "build_wheel.py", self.scratch / where)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return pathlib.Path(done.stdout.strip())

    def test_the_record_is_of_what_is_in_it(self):
        wheel = self.build("first")
        self.assertEqual(wheel.name, f"arcalloc-{VERSION}-py3-none-any.whl")
        with zipfile.ZipFile(wheel) as archive:
            self.assertIsNone(archive.testzip())
            files = {name: archive.read(name) for name in archive.namelist()}
        rows = {name: (digest, size) for name, digest, size in csv.reader(io.StringIO(files[f"{OWN}/RECORD"].decode()))}
        self.assertEqual(rows.keys(), files.keys())
        for name, data in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            expected = ("", "") if name.endswith("/RECORD") else (f"sha256={digest}", str(len(data)))
            self.assertEqual(rows[name], expected, name)
        sources = {str(path.relative_to(SOURCES)) for path in (SOURCES / "arcalloc").rglob("*.py")}
        self.assertEqual({name for name in files if not name.startswith(OWN)}, sources)
        self.assertIn(f"\nName: arcalloc\nVersion: {VERSION}\n", files[f"{OWN}/METADATA"].decode())

    def test_the_same_sources_make_the_same_bytes(self):
        self.assertEqual(self.build("first").read_bytes(), self.build("second").read_bytes())

    def test_it_works_where_it_is_unpacked(self):
        target = self.scratch / "target"
        with zipfile.ZipFile(self.build("first")) as archive:
            archive.extractall(target)
        done = run("-I", "-c", USE, str(target))
        self.assertEqual((done.returncode, done.stdout), (0, "1 request\n"), done.stderr)

    def test_the_source_archive_builds_the_same_wheel(self):
        program = ("import sys; sys.path.insert(0, sys.argv[1]); import build_wheel; "
                   "print(build_wheel.build_sdist(sys.argv[2]))")
        done = run("-c", program, str(SOURCES), str(self.scratch))
        self.assertEqual(done.stdout, f"arcalloc-{VERSION}.tar.gz\n", done.stderr)
        with tarfile.open(self.scratch / f"arcalloc-{VERSION}.tar.gz") as archive:
            archive.extractall(self.scratch)
        done = run(self.scratch / f"arcalloc-{VERSION}/build_wheel.py", self.scratch / "again")
        self.assertEqual(pathlib.Path(done.stdout.strip()).read_bytes(), self.build("first").read_bytes(), done.stderr)


if __name__ == "__main__":
    unittest.main()
