# SPDX-License-Identifier: Apache-2.0
"""Reads named_bugs.txt, whose first lines say how it is written, and finds each bug's place in the source."""
import dataclasses
import pathlib

FIELDS = ("file", "why", "beyond simulation")


class Malformed(Exception):
    pass


@dataclasses.dataclass
class NamedBug:
    name: str
    line: int
    file: str = ""
    why: str = ""
    beyond_simulation: str = ""  # why the simulation cannot express it; empty: it must find it
    before: str = ""
    after: str = ""

    def apply(self, root):
        """The file's text with the bug in it. The text before must be there, and only once."""
        path = pathlib.Path(root) / self.file
        if not path.is_file():
            raise Malformed(f"named_bugs.txt:{self.line}: {self.name}: there is no {self.file}")
        source = path.read_text(encoding="utf-8")
        count = source.count(self.before)
        if count != 1:
            raise Malformed(f"named_bugs.txt:{self.line}: {self.name}: its text before occurs {count} times in {self.file}")
        return source.replace(self.before, self.after)


def read(path):
    bugs, part = [], None
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(keepends=True), 1):
        word = line.strip()
        if word.startswith("bug: "):
            bugs.append(NamedBug(word[len("bug: "):], number))
            part = "fields"
        elif part is None or (part == "fields" and (word == "" or word.startswith("#"))):
            if word and not word.startswith("#"):
                raise Malformed(f"named_bugs.txt:{number}: expected `bug: NAME`, found `{word}`")
        elif word in ("<<<", "===", ">>>"):
            expected = {"fields": "<<<", "before": "===", "after": ">>>"}.get(part)
            if word != expected:
                raise Malformed(f"named_bugs.txt:{number}: expected `{expected}`, found `{word}`")
            part = {"<<<": "before", "===": "after", ">>>": None}[word]
        elif part == "fields":
            field, colon, value = word.partition(": ")
            if not colon or field not in FIELDS:
                raise Malformed(f"named_bugs.txt:{number}: expected one of {', '.join(FIELDS)}, found `{word}`")
            setattr(bugs[-1], field.replace(" ", "_"), value)
        elif part == "before":
            bugs[-1].before += line
        else:
            bugs[-1].after += line
    if part is not None:
        raise Malformed(f"named_bugs.txt:{bugs[-1].line}: {bugs[-1].name} is not finished")
    for bug in bugs:
        if not (bug.file and bug.why and bug.before) or bug.before == bug.after:
            raise Malformed(f"named_bugs.txt:{bug.line}: {bug.name} lacks its file, its why, or a difference")
    names = [bug.name for bug in bugs]
    if not bugs or len(set(names)) != len(names):
        raise Malformed("named_bugs.txt: no bugs, or two of one name")
    return bugs
