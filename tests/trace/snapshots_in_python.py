# SPDX-License-Identifier: Apache-2.0
"""A snapshot that `arcalloc convert` writes loads in Python as the plain data that PyTorch's tools expect.

Usage: snapshots_in_python.py PROGRAM. The checks are those that PyTorch's own summary of a snapshot asserts, and the
fields that its summary, its trace listing and its viewer read.
"""
import pathlib
import pickle
import subprocess
import sys
import tempfile

ROWS = "t_us,op,id,size,stream\n1,a,5,256,0\n,a,6,100,3\n2,f,9,64,0\n3,f,5,256,0\n4,a,7,70000,0\n5,a,8,4294967296,0\n"


class plain_unpickler(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"asks for {module}.{name}")


def check_segment(segment):
    for key in ("device", "address", "total_size", "allocated_size", "active_size", "requested_size", "stream",
                "segment_type", "segment_pool_id", "is_expandable", "frames", "blocks"):
        assert key in segment, key
    assert segment["segment_pool_id"] == (0, 0)
    at, allocated, requested, idle = segment["address"], 0, 0, 0
    for block in segment["blocks"]:
        assert block["address"] == at and block["frames"] == [], block
        assert block["state"] in ("active_allocated", "inactive"), block
        at += block["size"]
        if block["state"] == "active_allocated":
            assert 0 < block["requested_size"] <= block["size"], block
            allocated += block["size"]
            requested += block["requested_size"]
        else:
            idle += block["size"]
    assert at == segment["address"] + segment["total_size"]
    assert allocated + idle == segment["total_size"]
    assert (segment["allocated_size"], segment["active_size"]) == (allocated, allocated)
    assert segment["requested_size"] == requested


def main():
    program = sys.argv[1]
    with tempfile.TemporaryDirectory() as directory:
        rows, written = pathlib.Path(directory) / "rows.csv", pathlib.Path(directory) / "snapshot.pickle"
        rows.write_text(ROWS)
        subprocess.run([program, "convert", rows, written], check=True, stdout=subprocess.DEVNULL)
        with open(written, "rb") as opened:
            snapshot = plain_unpickler(opened).load()
            assert opened.read() == b"", "nothing follows"
    assert set(snapshot) == {"segments", "device_traces", "allocator_settings", "external_annotations"}
    assert snapshot["allocator_settings"] == {} and snapshot["external_annotations"] == []
    for segment in snapshot["segments"]:
        check_segment(segment)
    live = [block for segment in snapshot["segments"] for block in segment["blocks"] if block["state"] != "inactive"]
    assert sorted(block["requested_size"] for block in live) == [100, 70000, 4294967296]

    (trace,) = snapshot["device_traces"]
    told = [(one["action"], one["size"], one["stream"], one.get("time_us")) for one in trace]
    # The block that was there before has no alloc, as in PyTorch's own.
    assert told == [("alloc", 256, 0, 1), ("alloc", 100, 3, None), ("free_requested", 64, 0, 2),
                    ("free_completed", 64, 0, 2), ("free_requested", 256, 0, 3), ("free_completed", 256, 0, 3),
                    ("alloc", 70000, 0, 4), ("alloc", 4294967296, 0, 5)], told
    assert trace[0]["addr"] == trace[4]["addr"] == trace[5]["addr"]
    assert all(one["frames"] == [] for one in trace)
    print(f"{len(trace)} entries and {len(snapshot['segments'])} segments looked at")


main()
