# SPDX-License-Identifier: Apache-2.0
"""Counters, and the texts made of them."""
import ctypes

from . import c
from .errors import check
from .library import load

BOUNDS = ("cached_bytes_max", "capacity_bytes")


def text_of(write):
    """A text that C writes as snprintf does."""
    room = ctypes.create_string_buffer(4096)
    length = write(room, len(room))
    if length >= len(room):
        room = ctypes.create_string_buffer(length + 1)
        length = write(room, len(room))
    if length < 0:
        check(-length)
    return room.value.decode()


class Counters(dict):
    """Every counter by the name that arcalloc_counters gives it; docs/statistics.md explains each. A bound that is not
    set is None, and cap_source is a name, as in JSON."""

    def __init__(self, struct):
        self._struct = struct
        values = {name: getattr(struct, name) for name, _ in c.Counters._fields_[2:]}
        for name in BOUNDS:
            if values[name] == c.NO_BOUND:
                values[name] = None
        values["cap_source"] = load().arcalloc_cap_source_name(struct.cap_source).decode()
        super().__init__(values)

    @property
    def hit_rate(self):
        """hits / requests; 0 before the first request."""
        return self["hits"] / self["requests"] if self["requests"] else 0.0

    def since(self, before):
        """The window from an earlier reading to this one: counts subtracted, gauges as they are here."""
        window = c.Counters()
        check(load().arcalloc_counters_between(before._struct, self._struct, window))
        return Counters(window)

    def report(self, steps=1):
        """One line on a window of so many steps."""
        return text_of(lambda room, size: load().arcalloc_step_report_text(self._struct, steps, room, size))

    def json(self):
        """A JSON object with the same names and values."""
        return text_of(lambda room, size: load().arcalloc_counters_json(self._struct, room, size))


def label_text(labels):
    """`labels` as Prometheus writes them between braces: a dict, or a text that is one already."""
    if isinstance(labels, str):
        return labels
    escaped = {name: str(value).replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
               for name, value in labels.items()}
    return ",".join(f'{name}="{value}"' for name, value in escaped.items())


def metrics(readings):
    """The page that Prometheus scrapes, of several allocators: pairs of labels ({} for none) and Counters."""
    readings = list(readings)
    counters = (ctypes.POINTER(c.Counters) * len(readings))(*[ctypes.pointer(one._struct) for _, one in readings])
    texts = [label_text(labels) for labels, _ in readings]
    labels = (ctypes.c_char_p * len(readings))(*[text.encode() if text else None for text in texts])
    return text_of(lambda room, size: load().arcalloc_metrics_text(counters, labels, len(readings), room, size))


def built_as():
    """What the library is: abi_version, version, commit, dirty, compiler, build_type."""
    found = c.Build()
    check(load().arcalloc_built_as(found))
    return {name: value.decode() if isinstance(value, bytes) else value
            for name, value in ((name, getattr(found, name)) for name, _ in c.Build._fields_[1:])}
