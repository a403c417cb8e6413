# SPDX-License-Identifier: Apache-2.0
"""Devices, allocators, blocks and readings, as a Python program uses them."""
import ctypes
import json
import os
import tempfile
import threading
import unittest

import arcalloc
from arcalloc import c

MIB = 1 << 20


class Case(unittest.TestCase):
    """An allocator as shipped over 64 MiB of host memory."""

    def setUp(self):
        self.device = arcalloc.Device(64 * MIB)
        self.memory = arcalloc.Allocator(self.device)
        self.addCleanup(self.device.close)
        self.addCleanup(self.memory.close)


class Blocks(Case):
    def test_a_block_is_given_back_and_found_again(self):
        with self.memory.allocate(5000) as first:
            self.assertEqual(first.address % 512, 0)
            self.assertEqual((first.bytes, first.stream), (5000, arcalloc.DEFAULT_STREAM))
            ctypes.memset(first.address, 7, 5000)
            address = first.address
        second = self.memory.allocate(5000)
        self.assertEqual(second.address, address)
        second.free()
        third = self.memory.allocate(5000)
        del third
        now = self.memory.counters()
        self.assertEqual((now["requests"], now["misses"], now["hits"], now["frees"]), (3, 1, 2, 3))
        self.assertEqual(now["blocks_live"], 0)
        self.assertAlmostEqual(now.hit_rate, 2 / 3)

    def test_what_is_closed_says_so(self):
        block = self.memory.allocate(5000)
        block.free()
        for use in (block.free, lambda: block.address, lambda: block.note_use(3)):
            with self.assertRaisesRegex(arcalloc.InvalidArgument, "this Block is closed"):
                use()
        block.close()
        with self.assertRaisesRegex(arcalloc.InvalidArgument, "an allocator stands on this Device"):
            self.device.close()
        live = self.memory.allocate(5000)
        self.memory.close()
        live.close()
        with self.assertRaisesRegex(arcalloc.InvalidArgument, "this Allocator is closed"):
            self.memory.counters()
        self.device.close()
        with self.assertRaisesRegex(arcalloc.InvalidArgument, "this Device is closed"):
            arcalloc.Allocator(self.device)

    def test_nothing_is_a_block_of_no_bytes(self):
        with self.memory.allocate(0) as none:
            self.assertIsNone(none.address)
        self.assertEqual(self.memory.counters()["requests"], 0)

    def test_refusals_are_exceptions_by_status(self):
        self.assertIsNone(self.memory.last_failure())
        with self.assertRaises(arcalloc.RequestTooLarge):
            self.memory.allocate(2**63)
        with self.assertRaisesRegex(MemoryError, "^device_out_of_memory$") as caught:
            self.memory.allocate(65 * MIB, stream=3)
        self.assertIsInstance(caught.exception, arcalloc.DeviceOutOfMemory)
        self.assertEqual(caught.exception.status, c.DEVICE_OUT_OF_MEMORY)
        self.assertRegex(self.memory.last_failure(), r"^device_out_of_memory: requested 68157440 .* on stream 3;")

    def test_numbers_that_c_would_cut_are_refused(self):
        for size in (-1, 2**64, 1.5, "5", None, True):
            with self.assertRaises(arcalloc.InvalidArgument):
                self.memory.allocate(size)
        with self.assertRaises(arcalloc.InvalidArgument):
            self.memory.allocate(5000, stream=2**64 + 1)
        self.assertEqual(self.memory.counters()["requests"], 0)

    def test_by_address_what_is_not_out_is_refused(self):
        block = self.memory.allocate(5000)
        address = block.address
        block.free()
        with self.assertRaises(arcalloc.DoubleFree):
            self.memory.deallocate_address(address)
        with self.assertRaises(arcalloc.UnknownPointer):
            self.memory.deallocate_address(4096)
        with self.assertRaises(arcalloc.UnknownPointer):
            self.memory.locate(0)

    def test_streams(self):
        block = self.memory.allocate(5000, stream=1)
        block.note_use(2)
        block.free(stream=2)
        here = arcalloc.this_thread_stream()
        seen = []
        thread = threading.Thread(target=lambda: seen.append(arcalloc.this_thread_stream()))
        thread.start()
        thread.join()
        self.assertNotEqual(seen, [here])
        self.memory.end_stream(1)

    def test_threads_share_an_allocator(self):
        def work(number):
            for round in range(100):
                self.memory.allocate(1000 + 64 * round, stream=number).free()

        threads = [threading.Thread(target=work, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        now = self.memory.counters()
        self.assertEqual((now["requests"], now["frees"], now["blocks_live"]), (400, 400, 0))
        self.assertEqual(now["requests"], now["hits"] + now["misses"] + now["bypassed"] + now["failed"])

    def test_phases_steps_and_bounds(self):
        self.assertEqual(self.memory.phase, "mixed")
        self.memory.phase = "prefill"
        self.memory.allocate(5000).free()
        self.assertEqual(self.memory.counters()["bypassed_phase"], 1)
        self.memory.phase = "decode"
        before = self.memory.counters()
        for _ in range(3):
            self.memory.allocate(5000).free()
            self.memory.end_step()
        self.assertEqual(self.memory.step_counters()["hits"], 1)
        self.assertEqual(self.memory.counters().since(before)["requests"], 3)
        with self.assertRaisesRegex(arcalloc.InvalidArgument, "phase is 'dinner'"):
            self.memory.phase = "dinner"
        held = self.memory.allocate(8 * MIB)
        with self.assertRaises(arcalloc.CapacityExceeded):
            self.memory.set_capacity_bytes(MIB)
        held.free()
        self.memory.set_cached_bytes_max(MIB)
        self.assertLessEqual(self.memory.counters()["cached_bytes"], MIB)
        self.memory.set_cached_bytes_max(arcalloc.UNBOUNDED)
        self.assertIsNone(self.memory.counters()["cached_bytes_max"])
        self.memory.set_cached_bytes_max(None)
        self.assertEqual(self.memory.counters()["cap_source"], "derived")
        self.memory.set_enabled(False)
        self.memory.trim()
        self.memory.drain()
        self.memory.reset_peaks()
        now = self.memory.counters()
        self.assertEqual((now["reserved_bytes"], now["reserved_bytes_peak"]), (0, 0))


class Recordings(Case):
    def test_every_request_is_written_and_counted(self):
        with tempfile.TemporaryDirectory() as directory:
            path = os.path.join(directory, "run.arct")
            self.memory.record_to(path)
            for _ in range(10):
                self.memory.allocate(5000).free()
            self.memory.flush_recording()
            going = self.memory.recording()
            self.memory.end_recording()
            ended = self.memory.recording()
            self.assertGreater(os.path.getsize(path), 40)
        self.assertTrue(going["recording"])
        self.assertFalse(ended["recording"])
        self.assertGreaterEqual(ended["events"], 20)
        self.assertEqual(ended["lost"], 0)

    def test_a_file_that_cannot_be_written_is_refused(self):
        with self.assertRaises(arcalloc.Error):
            self.memory.record_to("/nowhere/run.arct")
        self.assertFalse(self.memory.recording()["recording"])


class Readings(Case):
    def test_counters_are_those_of_the_json(self):
        self.memory.allocate(5000).free()
        now = self.memory.counters()
        self.assertEqual(dict(now), {key: value for key, value in json.loads(now.json()).items()
                                     if key not in ("size", "version")})
        self.assertIsNone(now["capacity_bytes"])
        self.assertIn("hit rate", now.report())

    def test_the_page_of_prometheus(self):
        self.memory.allocate(5000).free()
        page = self.memory.metrics({"rank": 0, "name": 'a "b" \\ c'}).splitlines()
        self.assertIn(r'arcalloc_requests_total{rank="0",name="a \"b\" \\ c"} 1', page)
        both = arcalloc.metrics([({}, self.memory.counters()), ('rank="1"', self.memory.counters())]).splitlines()
        self.assertIn("arcalloc_requests_total 1", both)
        self.assertIn('arcalloc_requests_total{rank="1"} 1', both)

    def test_the_cap_the_device_and_the_segment(self):
        self.assertEqual(self.memory.cap()["cached_bytes_max"], 24 * MIB)
        self.assertEqual(self.memory.cap()["cap_source"], "derived")
        self.assertEqual(self.device.query_memory(), {"free_bytes": 64 * MIB, "total_bytes": 64 * MIB})
        self.assertEqual(self.device.name, "host")
        with self.memory.allocate(20 * MIB) as block:
            extent = self.memory.locate(block.address + 100)
            self.assertEqual((extent["base"], extent["offset_bytes"]), (block.address, 100))

    def test_a_gpu_that_is_not_there_is_said_so(self):
        with self.assertRaisesRegex(arcalloc.BackendUnavailable, "/nowhere/libcuda.so.1"):
            arcalloc.Device.cuda(driver_path="/nowhere/libcuda.so.1")
        with self.assertRaises(arcalloc.BackendUnavailable):
            arcalloc.Device.cuda(1000000)
        self.assertEqual(self.device.error_text(), "")

    def test_what_the_library_is(self):
        self.assertEqual(arcalloc.built_as()["version"], arcalloc.__version__)
        self.assertEqual(arcalloc.built_as()["abi_version"], c.ABI_VERSION)


class Captures(Case):
    def test_a_graph_keeps_what_its_window_freed(self):
        with arcalloc.Window(self.memory, 1, pool_group=7) as window:
            window.join(2)
            self.memory.allocate(3000, stream=1).free()
            graph = window.end()
        graph.note_replay(3)
        self.memory.drain()
        self.assertEqual(self.memory.counters()["pinned_bytes"], 3072)
        graph.close()
        self.memory.drain()
        self.assertEqual(self.memory.counters()["reserved_bytes"], 0)

    def test_a_window_that_is_left_is_aborted_and_its_misses_are_named(self):
        with arcalloc.Window(self.memory, 1, policy="refuse"):
            for size in (393216, 3000, 393216):
                with self.assertRaises(arcalloc.CaptureMiss):
                    self.memory.allocate(size, stream=1)
        misses = [(one["requested_bytes"], one["count"]) for one in arcalloc.capture_misses(self.memory)]
        self.assertEqual(misses, [(393216, 2), (3000, 1)])
        self.assertEqual(self.memory.counters()["pinned_bytes"], 0)

    def test_profiles(self):
        seen = arcalloc.Profile()
        seen.begin(self.memory)
        self.memory.allocate(3000, stream=1).free()
        seen.end(self.memory)
        seen.add(1, 4096, 2)
        seen.rename_stream(1, 2)
        expected = [{"stream": 2, "bytes": 3072, "blocks": 1}, {"stream": 2, "bytes": 4096, "blocks": 2}]
        seen.write("python_profile.json")
        read = arcalloc.Profile("python_profile.json")
        self.assertEqual(read.entries(), expected)
        self.assertEqual(read.missing(self.memory), expected)
        read.prewarm(self.memory)
        self.assertEqual(read.missing(self.memory), [])
        with open("python_no_profile.json", "w", encoding="utf-8") as opened:
            opened.write('{\n  "schema": 3\n}\n')
        with self.assertRaisesRegex(arcalloc.InvalidArgument, "python_no_profile.json:2"):
            arcalloc.Profile("python_no_profile.json")


if __name__ == "__main__":
    unittest.main()
