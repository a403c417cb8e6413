# SPDX-License-Identifier: Apache-2.0
"""What becomes of one fault: the verdict, and by whom it was found.

    killed              a killer failed: its name and the test's
    survived            every killer passed
    equivalent          the core's objects are the same to the byte as without the fault, at -O1 or at -O2
    duplicate           they are the same as another mutant's of the file
    does_not_compile    the compiler refuses

A hang and a crash are kills. Only the first two count.
"""
import hashlib
import time

import scratch_build

STRONGER = "-O2 -w"


class Trial:
    def __init__(self, scratch):
        self.scratch = scratch
        self.seen = set()  # of the mutants so far, what they compile to
        self.stronger = {}  # output -> the object without a fault, at STRONGER

    def judge(self, file, text, killers=None):
        """Puts `text` in the place of `file`, and says what came of it."""
        began, unharmed = time.monotonic(), self.scratch.text_of(file)
        self.scratch.put(file, text)
        try:
            verdict = self._judge(file, unharmed, self.scratch.killers if killers is None else killers)
        finally:
            self.scratch.put(file, unharmed)
        verdict["seconds"] = round(time.monotonic() - began, 1)
        return verdict

    def _judge(self, file, unharmed, killers):
        core = self.scratch.core_objects(file)
        if not core:
            raise scratch_build.Trouble(f"{file} is not a part of the library")
        changed = self.scratch.compile_all(core)
        if None in changed.values():
            return {"verdict": "does_not_compile"}
        changed = {output: path for output, path in changed.items() if not self.scratch.same_object(output)}
        if not changed:
            return {"verdict": "equivalent"}
        compiled = self._digest(file, changed)
        if compiled in self.seen:
            return {"verdict": "duplicate"}
        self.seen.add(compiled)
        others = [output for output in self.scratch.reached[file] if output not in core]
        linked = {}
        for killer in killers:
            if killer.program not in linked:
                wanted = [output for output in self.scratch.objects_of(killer.program)
                          if output in others and output not in changed]
                objects = self.scratch.compile_all(wanted)
                if None in objects.values():
                    return {"verdict": "does_not_compile"}
                changed.update(objects)
                linked[killer.program] = self.scratch.link(killer.program, changed)
            found = self.scratch.run(killer, linked[killer.program])
            if found["failed"]:
                return {"verdict": "killed", "killer": killer.name, "by": found["by"], "object": compiled}
        if self._same_when_optimised(file, unharmed, core):
            return {"verdict": "equivalent"}
        return {"verdict": "survived", "object": compiled}

    @staticmethod
    def _digest(file, changed):
        digest = hashlib.sha256(file.encode())
        for output in sorted(changed):
            digest.update(output.encode() + changed[output].read_bytes())
        return digest.hexdigest()

    def _same_when_optimised(self, file, unharmed, core):
        with_fault = self.scratch.text_of(file)
        for output in core:
            if self.scratch.compile(output, STRONGER) is None:
                return False
            faulty = self.scratch.mutated.joinpath(output).read_bytes()
            if output not in self.stronger:
                self.scratch.put(file, unharmed)
                self.scratch.compile(output, STRONGER)
                self.stronger[output] = self.scratch.mutated.joinpath(output).read_bytes()
                self.scratch.put(file, with_fault)
            if faulty != self.stronger[output]:
                return False
        return True
