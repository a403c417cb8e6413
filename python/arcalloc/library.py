# SPDX-License-Identifier: Apache-2.0
"""Finds and opens the arcalloc library: once, when it is first needed.

Where `ARCALLOC_LIBRARY` is set, that file and no other; else libarcalloc.so.0, then libarcalloc.so, as the loader finds
them (LD_LIBRARY_PATH, the system's places).
"""
import ctypes
import os
import threading

from . import c

_loaded = None
_loading = threading.Lock()


class LibraryError(ImportError):
    """The library was not found, or is another version than this package."""


def names():
    """What is tried, in order."""
    chosen = os.environ.get("ARCALLOC_LIBRARY")
    return [chosen] if chosen else ["libarcalloc.so.0", "libarcalloc.so"]


def open_library():
    """The first of names() that opens, its functions declared as the header has them."""
    refusals = []
    for name in names():
        try:
            opened = ctypes.CDLL(name)
        except OSError as why:
            refusals.append(f"{name}: {why}")
            continue
        declare(opened, name)
        return opened
    raise LibraryError("arcalloc's shared library was not found; set ARCALLOC_LIBRARY to its path, or LD_LIBRARY_PATH "
                       "to its directory. Tried: " + "; ".join(refusals))


def declare(opened, name):
    """Without argtypes ctypes passes an integer as 32 bits, and cuts a pointer."""
    for function, (result, arguments) in c.FUNCTIONS.items():
        try:
            found = getattr(opened, function)
        except AttributeError:
            raise LibraryError(f"{name}: has no {function}; it is older than this package, or not arcalloc") from None
        found.restype, found.argtypes = result, arguments
    version = opened.arcalloc_abi_version()
    if version != c.CONSTANTS["ABI_VERSION"]:
        raise LibraryError(f"{name}: has interface {version}; this package is made for {c.CONSTANTS['ABI_VERSION']}")


def load():
    """The library, for calls by their names in C. Raises LibraryError. Any thread."""
    global _loaded
    with _loading:
        if _loaded is None:
            _loaded = open_library()
        return _loaded
