# SPDX-License-Identifier: Apache-2.0
"""pip installs the package from its sources, without a network.

    pip_install.py SOURCES SCRATCH

Status 77, and the reason, where there is no pip.
"""
import os
import pathlib
import shutil
import subprocess
import sys

USE = """
import importlib.metadata
import arcalloc
print(importlib.metadata.version("arcalloc") == arcalloc.__version__, arcalloc.__file__)
"""


def main():
    sources, scratch = (pathlib.Path(given).resolve() for given in sys.argv[1:])
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        print("skipped: this Python has no pip")
        sys.exit(77)
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir(parents=True)
    # pip builds in the sources: they are copied, so that it leaves nothing there.
    shutil.copytree(sources, scratch / "sources", ignore=shutil.ignore_patterns("__pycache__"))
    target = scratch / "target"
    subprocess.run([sys.executable, "-m", "pip", "install", "--no-index", "--no-deps", "--disable-pip-version-check",
                    "--no-cache-dir", "--target", target, scratch / "sources"], check=True)
    said = subprocess.run([sys.executable, "-B", "-c", USE], env={**os.environ, "PYTHONPATH": str(target)},
                          capture_output=True, text=True, check=True).stdout
    if said.split() != ["True", str(target / "arcalloc/__init__.py")]:
        sys.exit(f"the installed package says {said!r}")
    print("installed by pip, and imported")


main()
