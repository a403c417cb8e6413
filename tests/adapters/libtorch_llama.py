# SPDX-License-Identifier: Apache-2.0
"""libtorch decodes the shared model on arcalloc and on its own allocator: the same text, and that of llama2.c.

    libtorch_llama.py PROGRAM MODEL_DIRECTORY [ROUNDS]

On arcalloc every tensor that the model makes is arcalloc's, and its reserved bytes do not grow in the second half. With
more than one round, the two in turn, medians with the least and the most are printed; they are not judged.
"""
import json
import pathlib
import statistics
import subprocess
import sys

TOKENS = 256


def decode(program, directory, whose):
    done = subprocess.run([program, directory / "stories260K.bin", directory / "tok512.bin", str(TOKENS), whose],
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{whose}: exit status {done.returncode}: {done.stderr or done.stdout[-300:]}")
    text, _, numbers = done.stdout.rstrip("\n").rpartition("\n")
    return text + "\n", json.loads(numbers)


def main():
    program, directory = sys.argv[1], pathlib.Path(sys.argv[2])
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 1
    golden = directory / "greedy256.txt"
    if not golden.is_file():
        print(f"skipped: no shared data: {golden.parent.name}/{golden.name}")
        sys.exit(77)
    runs = {"arcalloc": [], "libtorch": []}
    for _ in range(rounds):
        for whose, done in runs.items():
            text, numbers = decode(program, directory, whose)
            if text != golden.read_text(encoding="utf-8"):
                sys.exit(f"{whose}: not the text of llama2.c: {text[:200]!r}")
            done.append(numbers)
    for numbers in runs["arcalloc"]:
        if numbers["tensors"] < 200 * TOKENS or numbers["not_ours"] != 0:
            sys.exit(f"of {numbers['tensors']} tensors {numbers['not_ours']} are not arcalloc's")
        if numbers["requests"] < numbers["tensors"]:
            sys.exit(f"{numbers['tensors']} tensors, but {numbers['requests']} requests")
        if numbers["reserved_bytes"] != numbers["reserved_bytes_at_half"]:
            sys.exit(f"reserved grew from {numbers['reserved_bytes_at_half']} to {numbers['reserved_bytes']} bytes")
    for whose, done in runs.items():
        for name in ("ms_per_token", "growth_bytes_at_half", "growth_bytes"):
            values = [numbers[name] for numbers in done]
            print(f"{whose:9} {name:21} {statistics.median(values):14.3f}  ({min(values):.3f} to {max(values):.3f})")
    ratios = [a["ms_per_token"] / b["ms_per_token"] for a, b in zip(runs["arcalloc"], runs["libtorch"])]
    print(f"arcalloc over libtorch, paired by round: {statistics.median(ratios):.3f} ({min(ratios):.3f} to {max(ratios):.3f})")
    last = runs["arcalloc"][-1]
    print(f"arcalloc: {last['requests']} requests, {last['driver_allocs']} driver allocations, "
          f"{last['reserved_bytes_peak']} bytes reserved at most")


main()
