# SPDX-License-Identifier: Apache-2.0
"""PyTorch's CUDA tensors on arcalloc: finds the plug-in, libarcalloc_torch.so, and tells PyTorch of it.

The plug-in is made and configured by its own library, and by the ARC_ALLOC_* variables; docs/pytorch.md is about it.
This module has run under a stand-in for PyTorch only.
"""
import ctypes
import os

from .library import LibraryError


def plugin_name(path=None):
    """`path`, else what ARCALLOC_TORCH_LIBRARY names, else libarcalloc_torch.so as the loader finds it."""
    return os.fspath(path or os.environ.get("ARCALLOC_TORCH_LIBRARY") or "libarcalloc_torch.so")


class Plugin:
    """The plug-in that PyTorch was told of."""

    def __init__(self, name, library, allocator):
        self.name, self._library, self.allocator = name, library, allocator

    def end_step(self):
        """Ends a step on every device."""
        self._library.arcalloc_torch_end_step()


def switch_on(path=None):
    """Makes arcalloc the allocator of PyTorch's CUDA tensors, for the rest of the process. Before the first tensor on a
    GPU; later PyTorch refuses. Raises ImportError without PyTorch, LibraryError without the plug-in."""
    import torch

    name = plugin_name(path)
    try:
        library = ctypes.CDLL(name)
    except OSError as why:
        raise LibraryError(f"{name}: {why}; set ARCALLOC_TORCH_LIBRARY to the plug-in's path") from None
    for function in ("arcalloc_torch_allocate", "arcalloc_torch_free", "arcalloc_torch_record_stream",
                     "arcalloc_torch_end_step"):
        if not hasattr(library, function):
            raise LibraryError(f"{name}: has no {function}; it is not arcalloc's plug-in")
    library.arcalloc_torch_end_step.restype = None
    library.arcalloc_torch_end_step.argtypes = []
    allocator = torch.cuda.memory.CUDAPluggableAllocator(name, "arcalloc_torch_allocate", "arcalloc_torch_free")
    torch.cuda.memory.change_current_allocator(allocator)
    # Tensor.record_stream reaches a pluggable allocator only where it was told of a function for that.
    record_stream = ctypes.cast(library.arcalloc_torch_record_stream, ctypes.c_void_p).value
    allocator.allocator().set_record_stream_fn(record_stream)
    return Plugin(name, library, allocator)
