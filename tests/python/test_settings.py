# SPDX-License-Identifier: Apache-2.0
"""Options, the environment, statuses, and how the library and PyTorch's plug-in are found."""
import os
import pathlib
import subprocess
import sys
import types
import unittest
from unittest import mock

import arcalloc
from arcalloc import c, errors, library, pytorch

KIB = 1 << 10
MIB = 1 << 20


def with_options(options):
    device = arcalloc.Device(64 * MIB)
    return arcalloc.Allocator(device, options)


class Settings(unittest.TestCase):
    def test_options_arrive(self):
        memory = with_options(arcalloc.Options(cache=False, cached_bytes_max=12345678, capacity_bytes=16 * MIB,
                                               geometry="exact"))
        memory.allocate(5000).free()
        now = memory.counters()
        self.assertEqual((now["bypassed_disabled"], now["cached_bytes_max"], now["capacity_bytes"]),
                         (1, 12345678, 16 * MIB))
        self.assertEqual((now["cap_source"], now["reserved_bytes_peak"]), ("explicit", 8192))
        memory = with_options(arcalloc.Options(capture_miss="refuse", cache_in_prefill=True, oom_retry=False,
                                               cached_bytes_max=arcalloc.UNBOUNDED))
        memory.phase = "prefill"
        memory.allocate(5000).free()
        self.assertEqual(memory.counters()["bypassed"], 0)
        with arcalloc.Window(memory, 1), self.assertRaises(arcalloc.CaptureMiss):
            memory.allocate(9000, stream=1)

    def test_each_geometry_rounds_as_it_says(self):
        expected = {1: MIB, 2: 768 * KIB, 4: 768 * KIB, 8: 704 * KIB, 16: 672 * KIB, "exact": 640 * KIB + 4096}
        for geometry, rounded in expected.items():
            memory = with_options(arcalloc.Options(geometry=geometry))
            with memory.allocate(640 * KIB + 1):
                self.assertEqual(memory.counters()["allocated_bytes"], rounded, geometry)

    def test_what_is_no_setting_is_refused(self):
        for wrong in ({"geometry": 3}, {"cache": "yes"}, {"cached_bytes_max": -1}, {"capacity_bytes": 2**64},
                      {"stats_every_steps": 2**32}, {"capture_miss": "die"}, {"geometry": []}):
            with self.assertRaisesRegex(arcalloc.InvalidArgument, next(iter(wrong))):
                arcalloc.Options(**wrong)

    def test_reports_go_to_the_sink(self):
        lines = []
        memory = with_options(arcalloc.Options(stats_every_steps=2, sink=lines.append))
        for _ in range(5):
            memory.allocate(5000).free()
            memory.end_step()
        self.assertEqual(len(lines), 2)
        self.assertIn("hit rate 1", lines[1])

    def test_a_profile_is_loaded_at_creation(self):
        wanted = arcalloc.Profile()
        wanted.add(1, 3072, 2)
        wanted.write("python_at_creation.json")
        memory = with_options(arcalloc.Options(profile=pathlib.Path("python_at_creation.json")))
        self.assertEqual(wanted.missing(memory), [])
        with self.assertRaises(arcalloc.InvalidArgument):
            with_options(arcalloc.Options(profile="/nowhere/at_all.json"))

    def test_the_environment_is_read(self):
        with mock.patch.dict(os.environ, ARC_ALLOC_CACHE_MAX_MB="3", ARC_ALLOC_CAPACITY_MB="32"):
            options = arcalloc.Options().read_environment()
        now = with_options(options).counters()
        self.assertEqual((now["cached_bytes_max"], now["capacity_bytes"], now["cap_source"]),
                         (3 * MIB, 32 * MIB, "environment"))
        said = []
        with mock.patch.dict(os.environ, ARC_ALLOC_CACHE="yes", ARC_ALLOC_CACHE_MAX_MB="0", ARC_ALLOC_CAPACITY_MB="-1"):
            with self.assertRaisesRegex(arcalloc.InvalidArgument, "ARC_ALLOC_CAPACITY_MB"):
                arcalloc.Options().read_environment(lambda severity, line: said.append((severity, line)))
        self.assertEqual([severity for severity, _ in said].count("error"), 2, said)
        self.assertEqual([severity for severity, _ in said].count("warning"), 1, said)


class Statuses(unittest.TestCase):
    def test_every_status_has_its_exception_and_its_name(self):
        self.assertEqual(sorted(errors.BY_STATUS), list(range(1, c.SHUTTING_DOWN + 1)))
        for status, kind in errors.BY_STATUS.items():
            name = library.load().arcalloc_status_name(status).decode()
            self.assertEqual(kind.__name__, "".join(word.capitalize() for word in name.split("_")))
            with self.assertRaisesRegex(kind, name) as caught:
                errors.check(status)
            self.assertEqual(caught.exception.status, status)

    def test_a_status_of_a_newer_library_is_kept(self):
        with self.assertRaises(arcalloc.Error) as caught:
            errors.check(4711)
        self.assertEqual((type(caught.exception), caught.exception.status), (arcalloc.Error, 4711))


class Finding(unittest.TestCase):
    def test_the_names_that_are_tried(self):
        with mock.patch.dict(os.environ, ARCALLOC_LIBRARY="/somewhere/libarcalloc.so"):
            self.assertEqual(library.names(), ["/somewhere/libarcalloc.so"])
        with mock.patch.dict(os.environ, ARCALLOC_LIBRARY=""):
            self.assertEqual(library.names(), ["libarcalloc.so.0", "libarcalloc.so"])

    def test_a_library_that_is_not_there_or_not_ours_is_said_so(self):
        for name, text in {"/nowhere/libarcalloc.so": "/nowhere/libarcalloc.so: .*cannot open",
                           "libc.so.6": "libc.so.6: has no arcalloc_"}.items():
            with mock.patch.dict(os.environ, ARCALLOC_LIBRARY=name):
                with self.assertRaisesRegex(arcalloc.LibraryError, text):
                    library.open_library()

    def test_another_version_is_refused(self):
        other = mock.MagicMock()
        other.arcalloc_abi_version.return_value = 2
        with self.assertRaisesRegex(arcalloc.LibraryError, "interface 2; this package is made for 1"):
            library.declare(other, "other")

    def test_importing_opens_nothing(self):
        program = "import arcalloc; arcalloc.Options(); arcalloc.library._loaded is None or exit(3)"
        subprocess.run([sys.executable, "-B", "-c", program], check=True,
                       env={**os.environ, "ARCALLOC_LIBRARY": "/nowhere.so"})


PLUGIN = """
int steps_ended;
void *arcalloc_torch_allocate(long bytes, int device, void *stream) { (void)bytes, (void)device; return stream; }
void arcalloc_torch_free(void *at, long bytes, int device, void *stream) { (void)at, (void)bytes, (void)device, (void)stream; }
void arcalloc_torch_record_stream(void *at, void *stream) { (void)at, (void)stream; }
void arcalloc_torch_end_step(void) { ++steps_ended; }
"""


def stand_in_for_torch():
    """What switch_on asks of PyTorch, and no more: it proves the order of calls, not that PyTorch takes them."""
    torch = types.ModuleType("torch")
    torch.cuda = types.SimpleNamespace(memory=mock.MagicMock())
    return torch


class PyTorch(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.plugin = str(pathlib.Path("libstand_in_plugin.so").resolve())
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-x", "c", "-", "-o", cls.plugin],
                       input=PLUGIN, text=True, check=True)

    def test_pytorch_is_told_of_the_plug_in(self):
        torch = stand_in_for_torch()
        with mock.patch.dict(sys.modules, torch=torch), mock.patch.dict(os.environ, ARCALLOC_TORCH_LIBRARY=self.plugin):
            plugin = pytorch.switch_on()
        memory = torch.cuda.memory
        memory.CUDAPluggableAllocator.assert_called_once_with(self.plugin, "arcalloc_torch_allocate", "arcalloc_torch_free")
        made = memory.CUDAPluggableAllocator.return_value
        memory.change_current_allocator.assert_called_once_with(made)
        (address,), _ = made.allocator.return_value.set_record_stream_fn.call_args
        self.assertGreater(address, 4096)
        plugin.end_step()
        ended = pytorch.ctypes.c_int.in_dll(plugin._library, "steps_ended")
        self.assertEqual((ended.value, plugin.allocator), (1, made))

    @unittest.skipUnless("ARCALLOC_TORCH_LIBRARY" in os.environ, "the plug-in is not built here")
    def test_the_plug_in_itself_is_taken(self):
        torch = stand_in_for_torch()
        with mock.patch.dict(sys.modules, torch=torch):
            pytorch.switch_on().end_step()
        name = os.environ["ARCALLOC_TORCH_LIBRARY"]
        torch.cuda.memory.CUDAPluggableAllocator.assert_called_once_with(
            name, "arcalloc_torch_allocate", "arcalloc_torch_free")

    def test_without_the_plug_in_pytorch_is_left_alone(self):
        for name, text in {"/nowhere/libarcalloc_torch.so": "ARCALLOC_TORCH_LIBRARY", "libc.so.6": "not arcalloc's"}.items():
            torch = stand_in_for_torch()
            with mock.patch.dict(sys.modules, torch=torch), self.assertRaisesRegex(arcalloc.LibraryError, text):
                pytorch.switch_on(name)
            torch.cuda.memory.change_current_allocator.assert_not_called()

    def test_without_pytorch_it_says_so(self):
        with mock.patch.dict(sys.modules, torch=None), self.assertRaises(ImportError):
            pytorch.switch_on(self.plugin)


if __name__ == "__main__":
    unittest.main()
