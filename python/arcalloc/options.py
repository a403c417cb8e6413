# SPDX-License-Identifier: Apache-2.0
"""What an allocator is created with."""
import os

from . import c
from .errors import InvalidArgument, check
from .library import load

UNBOUNDED = object()

_GEOMETRIES = {8: c.GEOMETRY_8, 1: c.GEOMETRY_1, 2: c.GEOMETRY_2, 4: c.GEOMETRY_4, 16: c.GEOMETRY_16,
               "exact": c.GEOMETRY_EXACT}
POLICIES = {None: c.CAPTURE_AS_CONFIGURED, "grow": c.CAPTURE_GROW, "refuse": c.CAPTURE_REFUSE}
_SWITCHES = {None: c.SWITCH_DEFAULT, True: c.SWITCH_ON, False: c.SWITCH_OFF}


def one_of(table, value, what):
    try:
        return table[value]
    except (KeyError, TypeError):
        raise InvalidArgument(f"{what} is {value!r}; it may be one of {list(table)}") from None


def bytes_of(value, what):
    # ctypes would cut a number that does not fit.
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**64:
        raise InvalidArgument(f"{what} is {value!r}; it may be a whole number from 0, below 2**64")
    return value


def bound_of(value):
    """The mode and the bytes of a bound on cached memory: None is derived, a number explicit, or UNBOUNDED."""
    if value is None:
        return c.BOUND_DERIVED, 0
    if value is UNBOUNDED:
        return c.BOUND_UNBOUNDED, 0
    return c.BOUND_EXPLICIT, bytes_of(value, "cached_bytes_max")


class Options:
    """Settings of an allocator; untouched, as shipped. docs/settings.md says what each means.

    cached_bytes_max is None (derived), a number of bytes, or UNBOUNDED; geometry 1, 2, 4, 8 or 16 classes a doubling, or
    "exact"; capture_miss "grow" or "refuse". `sink` is called with a line of text every `stats_every_steps` steps, on
    the thread that ended the step; what it raises is printed by ctypes and goes no further.
    """

    def __init__(self, *, cache=None, cached_bytes_max=None, capacity_bytes=0, geometry=8, oom_retry=None,
                 cache_in_prefill=None, stats_every_steps=0, sink=None, capture_miss=None, profile=None,
                 trace=None):
        self._struct = made = c.Options()
        made.cache = one_of(_SWITCHES, cache, "cache")
        made.cached_bytes_max_mode, made.cached_bytes_max = bound_of(cached_bytes_max)
        made.capacity_bytes = bytes_of(capacity_bytes, "capacity_bytes")
        made.geometry = one_of(_GEOMETRIES, geometry, "geometry")
        made.oom_retry = one_of(_SWITCHES, oom_retry, "oom_retry")
        made.cache_in_prefill = one_of(_SWITCHES, cache_in_prefill, "cache_in_prefill")
        if bytes_of(stats_every_steps, "stats_every_steps") >= 2**32:
            raise InvalidArgument(f"stats_every_steps is {stats_every_steps}; it may be below 2**32")
        made.stats_every_steps = stats_every_steps
        made.capture_miss = one_of(POLICIES, capture_miss, "capture_miss")
        # ctypes keeps the bytes and the function as long as the struct.
        made.profile_path = os.fsencode(profile) if profile is not None else None
        made.trace_path = os.fsencode(trace) if trace is not None else None
        if sink is not None:
            made.sink = c.TextSink(lambda _, line: sink(line.decode(errors="replace")))

    def read_environment(self, tell=None):
        """Applies the ARC_ALLOC_* variables, and returns self. Raises InvalidArgument, with what was said, if any was
        refused. `tell` is called with "warning" or "error" and a line for each thing there is to say. Reports without a
        sink go to stderr then."""
        said = []

        def note(_, severity, line):
            said.append(("warning" if severity == c.SEVERITY_WARNING else "error", line.decode(errors="replace")))

        status = load().arcalloc_options_from_environment(self._struct, c.DiagnosticSink(note), None)
        # The paths are in the environment's memory: they are copied before that may change.
        self._struct.profile_path = self._struct.profile_path
        self._struct.trace_path = self._struct.trace_path
        for severity, line in said if tell is not None else ():
            tell(severity, line)
        check(status, "; ".join(line for severity, line in said if severity == "error"))
        return self
