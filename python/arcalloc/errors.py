# SPDX-License-Identifier: Apache-2.0
"""One exception for each status; docs/statuses.md says what to do about each."""
from . import c
from .library import load


class Error(Exception):
    """A call was refused: live blocks, bounds and settings are as they were. `status` is the number in C."""

    status = None

    def __init__(self, text=None, status=None):
        if status is not None:
            self.status = status
        super().__init__(text or load().arcalloc_status_name(self.status).decode())


class InvalidArgument(Error, ValueError):
    """An argument contradicts the call."""
    status = c.INVALID_ARGUMENT


class RequestTooLarge(Error, ValueError):
    """More than 2^47 bytes."""
    status = c.REQUEST_TOO_LARGE


class CapacityExceeded(Error, MemoryError):
    """Our own bound on reserved bytes refuses."""
    status = c.CAPACITY_EXCEEDED


class DeviceOutOfMemory(Error, MemoryError):
    """The driver refuses, and nothing we hold could make room."""
    status = c.DEVICE_OUT_OF_MEMORY


class CaptureMiss(Error):
    """A request in a capture window that needs the driver; or what a profile wants is not there."""
    status = c.CAPTURE_MISS


class UnknownPointer(Error, ValueError):
    """Not the start of a block of this allocator."""
    status = c.UNKNOWN_POINTER


class DoubleFree(Error, ValueError):
    """The block is idle already."""
    status = c.DOUBLE_FREE


class BackendUnavailable(Error):
    """No such device or driver on this machine."""
    status = c.BACKEND_UNAVAILABLE


class BackendFailed(Error):
    """The driver, or host memory for bookkeeping, failed otherwise."""
    status = c.BACKEND_FAILED


class ShuttingDown(Error):
    """The driver is unloading."""
    status = c.SHUTTING_DOWN


BY_STATUS = {kind.status: kind for kind in Error.__subclasses__()}


def check(status, text=None):
    """Raises what the status means; a status that this package does not know is an Error with its number."""
    if status != c.OK:
        raise BY_STATUS[status](text) if status in BY_STATUS else Error(text, status)
