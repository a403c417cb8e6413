#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds the wheel of the package beside this file, with the standard library alone.

    build_wheel.py DIRECTORY      writes arcalloc-VERSION-py3-none-any.whl there, and prints its path

A pure wheel is a zip of the package and of a directory with METADATA, WHEEL and RECORD (the hash of each file). The same
sources make the same bytes. It is also a build backend (PEP 517), so pip can install from the sources without setuptools.
"""
import base64
import hashlib
import io
import pathlib
import re
import sys
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
REQUIRES_PYTHON = ">=3.9"
SUMMARY = "A bounded caching allocator for device memory, made for LLM decode"


def version():
    text = (HERE / "arcalloc/__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "(.*)"$', text, re.MULTILINE).group(1)


def metadata():
    return (f"Metadata-Version: 2.1\nName: arcalloc\nVersion: {version()}\nSummary: {SUMMARY}\n"
            f"License: Apache-2.0\nRequires-Python: {REQUIRES_PYTHON}\n")


def information():
    """The files of the wheel's own directory but RECORD, by name."""
    return {"METADATA": metadata(),
            "WHEEL": "Wheel-Version: 1.0\nGenerator: arcalloc\nRoot-Is-Purelib: true\nTag: py3-none-any\n"}


def package_files():
    """The sources by their place in the wheel."""
    return {str(path.relative_to(HERE)): path.read_bytes() for path in sorted((HERE / "arcalloc").glob("*.py"))}


def recorded(name, data):
    digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(data)}\n"


def write(archive, name, data):
    # A fixed time, so that the same sources make the same bytes.
    entry = zipfile.ZipInfo(name, date_time=(1980, 1, 1, 0, 0, 0))
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    archive.writestr(entry, data)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    own = f"arcalloc-{version()}.dist-info"
    files = package_files()
    files.update((f"{own}/{name}", text.encode()) for name, text in information().items())
    record = "".join(recorded(name, data) for name, data in files.items()) + f"{own}/RECORD,,\n"
    name = f"arcalloc-{version()}-py3-none-any.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w") as archive:
        for place, data in files.items():
            write(archive, place, data)
        write(archive, f"{own}/RECORD", record.encode())
    return name


def build_sdist(sdist_directory, config_settings=None):
    root = f"arcalloc-{version()}"
    files = package_files()
    files.update((name, (HERE / name).read_bytes()) for name in ("build_wheel.py", "pyproject.toml"))
    files["PKG-INFO"] = metadata().encode()
    with tarfile.open(pathlib.Path(sdist_directory) / f"{root}.tar.gz", "w:gz") as archive:
        for place, data in files.items():
            entry = tarfile.TarInfo(f"{root}/{place}")
            entry.size = len(data)
            archive.addfile(entry, io.BytesIO(data))
    return f"{root}.tar.gz"


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit("build_wheel.py: needs the directory that the wheel goes to")
    directory = pathlib.Path(sys.argv[1])
    directory.mkdir(parents=True, exist_ok=True)
    print(directory / build_wheel(directory))


if __name__ == "__main__":
    main()
