# SPDX-License-Identifier: Apache-2.0
"""PyTorch itself on a GPU, with arcalloc switched on by the lines of docs/pytorch.md: LIBRARY PAGE.

Skipped (exit status 77) with the reason where there is no PyTorch with CUDA, or no GPU.
"""
import ctypes
import pathlib
import re
import sys


def skip(why):
    print(f"skipped: {why}")
    raise SystemExit(77)


def lines_of(page):
    """The first indented block of the page that calls on PyTorch."""
    blocks = re.findall(r"(?:^    .*\n)+", pathlib.Path(page).read_text(encoding="utf-8"), re.M)
    found = [block for block in blocks if "change_current_allocator" in block]
    if not found:
        raise SystemExit(f"{page}: no lines that switch arcalloc on")
    return "\n".join(line[4:] for line in found[0].splitlines())


def report_of(library):
    text = ctypes.create_string_buffer(512)
    library.arcalloc_torch_report(0, text, len(text))
    line = text.value.decode()
    print(line)
    return {name: int(value) for name, value in re.findall(r"(\w+) (\d+)", line.partition(": ")[2])}


def decode(torch, steps):
    """A cache that grows by concatenation, and work of a fixed size beside it; a number that all of it goes into."""
    cache = torch.zeros(1, 1024, device="cuda")
    total = torch.zeros((), device="cuda")
    for step in range(steps):
        cache = torch.cat([cache, torch.full((1, 1024), float(step % 7), device="cuda")])
        total = total + (cache @ torch.ones(1024, device="cuda")).sum() / (step + 1)
    return total.item()


def replay_graph(torch):
    """Whether a replay leaves what was allocated after the capture as it is, and does its work."""
    given = torch.full((1 << 20,), 3.0, device="cuda")
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        result = (given * 2 + 1).relu()
    others = [torch.full((1 << 20,), 77.0, device="cuda") for _ in range(8)]
    graph.replay()
    torch.cuda.synchronize()
    return bool((result == 7).all()) and all(bool((other == 77).all()) for other in others)


def main():
    try:
        import torch
    except ImportError:
        skip("no PyTorch for this Python")
    if not torch.cuda.is_available():
        skip("this PyTorch sees no GPU: " + ("it is built without CUDA" if torch.version.cuda is None else "CUDA "
             + torch.version.cuda))
    lines = lines_of(sys.argv[2]).replace("libarcalloc_torch.so", sys.argv[1])
    exec(compile(lines, sys.argv[2], "exec"), {})
    library = ctypes.CDLL(sys.argv[1])
    expected = sum((sum(float(s % 7) for s in range(step + 1)) * 1024) / (step + 1) for step in range(400))
    found = decode(torch, 400)
    seen = report_of(library)
    failures = []
    if abs(found - expected) > abs(expected) * 1e-4:
        failures.append(f"decoded {found}, expected {expected}")
    if seen["requests"] < 1000 or seen["driver_allocs"] * 20 > seen["requests"]:
        failures.append("the requests of PyTorch are not served from what is held")
    if not replay_graph(torch):
        failures.append("a replay and what was allocated after its capture share memory")
    report_of(library)
    for failure in failures:
        print(failure)
    print(f"PyTorch {torch.__version__}, {torch.cuda.get_device_name(0)}: {3 - len(failures)} of 3 held")
    raise SystemExit(1 if failures else 0)


main()
