# SPDX-License-Identifier: Apache-2.0
"""Builds the program of nvcc and runs it: NVCC SOURCE INCLUDE LIBRARY PROGRAM. What does not link has failed; a program
that finds no card has linked, and is skipped with its own reason."""
import subprocess
import sys


def main():
    nvcc, source, include, library, program = sys.argv[1:]
    built = subprocess.run([nvcc, "-std=c++20", "-I", include, source, library, "-o", program], capture_output=True,
                           text=True, check=False)
    if built.returncode != 0:
        print(built.stdout + built.stderr)
        return 1
    ran = subprocess.run([program], capture_output=True, text=True, check=False)
    print(("skipped: it links with nvcc; " + ran.stdout.removeprefix("skipped: ")) if ran.returncode == 77 else
          ran.stdout + ran.stderr, end="")
    return ran.returncode


sys.exit(main())
