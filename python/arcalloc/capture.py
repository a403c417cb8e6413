# SPDX-License-Identifier: Apache-2.0
"""Capture windows, graphs and profiles; docs/graph_capture.md has the order of calls."""
import ctypes
import os

from . import c
from .allocator import Owned
from .errors import check
from .library import load
from .options import POLICIES, bytes_of, one_of


def elements(kind, read):
    """An array that C writes into our room, as many as fit, and says how many there are."""
    room, count = (kind * 0)(), ctypes.c_size_t()
    while True:
        check(read(room, len(room), count))
        if count.value <= len(room):
            return [{name: getattr(one, name) for name, _ in kind._fields_} for one in room[:count.value]]
        room = (kind * count.value)()


class Window(Owned):
    """A window around the driver's capture of a stream: opened before it, ended after it. Left without end(), it is
    aborted. Windows of one pool group share what only replays touch; 0: a group of its own."""

    def __init__(self, allocator, stream, policy=None, pool_group=0):
        how = c.CaptureOptions(policy=one_of(POLICIES, policy, "policy"),
                               pool_group=bytes_of(pool_group, "pool_group"))
        stream = bytes_of(stream, "stream")
        check(load().arcalloc_begin_capture(allocator._live(), stream, how))
        self._allocator, self._pointer = allocator, stream

    def join(self, stream):
        """`stream` waits on the captured one: its work is part of the same graph."""
        check(load().arcalloc_join_capture(self._allocator._live(), bytes_of(stream, "stream"), self._live()))

    def end(self):
        """Closes the window; what it touched is pinned until the Graph is closed."""
        graph = ctypes.c_uint64()
        check(load().arcalloc_end_capture(self._allocator._live(), self._live(), graph))
        self._pointer = None
        return Graph(self._allocator, graph.value)

    def close(self):
        if self._pointer is not None and self._allocator._pointer is not None:
            check(load().arcalloc_abort_capture(self._allocator._live(), self._pointer))
        self._pointer = None


class Graph(Owned):
    """A captured graph: close it after the driver's graph, and what it pins is let go of."""

    def __init__(self, allocator, number):
        self._allocator, self._pointer = allocator, number

    def note_replay(self, stream):
        """It was launched on `stream`, which is not the stream of its capture: its end waits for it."""
        check(load().arcalloc_note_replay(self._allocator._live(), self._live(), bytes_of(stream, "stream")))

    def close(self):
        if self._pointer is not None and self._allocator._pointer is not None:
            check(load().arcalloc_release_graph(self._allocator._live(), self._pointer))
        self._pointer = None


def capture_misses(allocator):
    """What missed in the open or the last window: dicts of requested_bytes, class_bytes, stream and count."""
    return elements(c.CaptureMiss, lambda room, size, count: load().arcalloc_read_capture_misses(
        allocator._live(), room, size, count))


class Profile(Owned):
    """What a warm-up asked for: per stream and class, the most blocks out at once. From a file where one is named."""

    def __init__(self, path=None):
        pointer = c.ProfilePointer()
        check(load().arcalloc_profile_create(pointer))
        self._pointer = pointer
        if path is not None:
            self._with_file(load().arcalloc_profile_read, path)

    def close(self):
        if self._pointer is not None:
            load().arcalloc_profile_destroy(self._pointer)
            self._pointer = None

    def _with_file(self, call, path):
        text = ctypes.create_string_buffer(512)
        check(call(self._live(), os.fsencode(path), text, len(text)), text.value.decode(errors="replace"))

    def write(self, path):
        self._with_file(load().arcalloc_profile_write, path)

    def add(self, stream, size_bytes, blocks):
        """Adds an entry, or raises the count of the one with the same stream and bytes."""
        entry = c.ProfileEntry(*(bytes_of(value, "an entry") for value in (stream, size_bytes, blocks)))
        check(load().arcalloc_profile_add(self._live(), entry))

    def entries(self):
        """Dicts of stream, bytes and blocks."""
        return elements(c.ProfileEntry, lambda room, size, count: load().arcalloc_profile_entries(
            self._live(), room, size, count))

    def rename_stream(self, before, now):
        """Streams have other numbers in the next run."""
        before, now = bytes_of(before, "stream"), bytes_of(now, "stream")
        check(load().arcalloc_profile_rename_stream(self._live(), before, now))

    def begin(self, allocator):
        """Records from now on; every call of the allocator takes the slow way meanwhile."""
        check(load().arcalloc_begin_profile(allocator._live()))

    def end(self, allocator):
        """Adds what was seen."""
        check(load().arcalloc_end_profile(allocator._live(), self._live()))

    def prewarm(self, allocator):
        """Fills the cache to it within the bounds."""
        check(load().arcalloc_prewarm(allocator._live(), self._live(), None))

    def missing(self, allocator):
        """The entries that the cache is short of: none, and no window that asks for no more can miss."""
        short = Profile()
        status = load().arcalloc_verify(allocator._live(), self._live(), short._live())
        if status not in (c.OK, c.CAPTURE_MISS):
            check(status)
        return short.entries()
