# SPDX-License-Identifier: Apache-2.0
"""What the documents name exists, and what the code offers is documented.

Settings, counters and statuses are compared both ways with their tables; every path in backticks or
links exists; every flag written after `arcalloc` or `./run` is one the program takes, and every flag
the program takes is in the manual page.
"""
import re
import subprocess

import tree

SETTING = re.compile(r"\bARC_(?:ALLOC|CANDLE)_[A-Z_]*[A-Z]\b")
COMMANDS = ("convert", "decode", "doctor", "replay", "report", "tune")


def read(root, path):
    return (root / path).read_text(encoding="utf-8")


def first_column(root, path, findings):
    """The names in backticks in the first column of the tables of a page, in order."""
    if not (root / path).is_file():
        findings.append(f"{path}: missing")
        return []
    rows = [line for line in read(root, path).splitlines() if line.startswith("|")]
    return [name for row in rows for name in re.findall(r"`([^`]+)`", row.split("|")[1])]


def compare(page, documented, where, existing, findings):
    if not existing:
        findings.append(f"{where}: found nothing to compare {page} with")
    findings += [f"{page}: no row for `{name}` of {where}" for name in existing if name not in documented]
    findings += [f"{page}: `{name}` is not in {where}" for name in documented if name not in existing]
    findings += [f"{page}: `{name}` has two rows" for name in sorted(set(documented)) if documented.count(name) > 1]


def check_settings(root, pages, findings):
    code = [text for path in tree.files(root, "src/", tree.CODE)
            for text in re.findall(r'"(ARC_(?:ALLOC|CANDLE)_[A-Z_]*[A-Z])"', read(root, path))]
    rows = [name for name in first_column(root, "docs/settings.md", findings) if SETTING.fullmatch(name)]
    compare("docs/settings.md", rows, "the settings of src/", sorted(set(code)), findings)
    for page in pages:
        for number, line in enumerate(read(root, page).splitlines(), 1):
            for name in SETTING.findall(line):
                if name not in code:
                    findings.append(f"{page}:{number}: {name} is not a setting")


def check_counters(root, findings):
    struct = re.search(r"typedef struct arcalloc_counters \{(.*?)\} arcalloc_counters;",
                       read(root, "include/arcalloc/counters.h"), re.DOTALL)
    fields = re.findall(r"^\s*uint(?:32|64)_t (\w+);", struct.group(1), re.MULTILINE) if struct else []
    documented = [name for name in first_column(root, "docs/statistics.md", findings) if re.fullmatch(r"\w+", name)]
    # A row `x_bytes` stands for its peak too: the page says so.
    peaks = [name + "_peak" for name in documented if name + "_peak" in fields]
    compare("docs/statistics.md", documented + peaks, "counters.h", fields, findings)


def counters_of_the_code(root):
    """(kind, name, meaning) of every counter, as src/counters.cpp has them; a peak's meaning is left to its macro."""
    code = re.sub(r'"\s*\n\s*"', "", read(root, "src/counters.cpp"))
    listed = re.findall(r'ARCALLOC_FIELD\(\s*(\w+),\s*(\w+),\s*"([^"]*)"\),', code)
    for short, meaning in re.findall(r'ARCALLOC_BYTES\(\s*(\w+),\s*"([^"]*)"\),', code):
        listed += [("gauge", short + "_bytes", meaning), ("gauge", short + "_bytes_peak", None)]
    return listed


def check_meanings(root, findings):
    """What the metrics say of a counter is what docs/statistics.md says, of each that has a row there."""
    if not (root / "docs/statistics.md").is_file():
        return  # check_counters has said so
    meanings = {name: meaning for _, name, meaning in counters_of_the_code(root)}
    for row in read(root, "docs/statistics.md").splitlines():
        cells = re.fullmatch(r"\| `(\w+)` \| (.*) \|", row)
        if not cells or cells.group(1) in ("size", "version"):
            continue
        said = meanings.get(cells.group(1), "nothing")
        if cells.group(2) != said:
            findings.append(f"docs/statistics.md: src/counters.cpp says of `{cells.group(1)}`: {said}")


def check_series(root, findings):
    """The series that the dashboard, the alerts and the page for operators name are those that the metrics have."""
    series = {f"arcalloc_{name}" + ("_total" if kind == "count" else "")
              for kind, name, _ in counters_of_the_code(root)}
    looked_at = 0
    for page in ("docs/operations.md", *map(str, tree.files(root, "examples/prometheus/"))):
        for number, line in enumerate(read(root, page).splitlines(), 1):
            for name in re.findall(r"\barcalloc_\w+", line):
                looked_at += 1
                if name not in series:
                    findings.append(f"{page}:{number}: {name} is no series of the metrics")
    if looked_at == 0:
        findings.append("found no series in any dashboard, alert or page")


def check_statuses(root, findings):
    listed = re.search(r"enum class status[^{]*\{(.*?)\};", read(root, "include/arcalloc/status.hpp"), re.DOTALL)
    values = re.findall(r"^\s*(\w+)(?: = 0)?,", listed.group(1), re.MULTILINE) if listed else []
    documented = first_column(root, "docs/statuses.md", findings)
    compare("docs/statuses.md", documented, "status.hpp", values, findings)


def check_paths(root, pages, findings):
    looked_at = 0
    for page in pages:
        for number, line in enumerate(read(root, page).splitlines(), 1):
            names = re.findall(r"\]\(([^)#\s]+)", line)
            names += [name for name in re.findall(r"`([^`\s]+)`", line)
                      if re.fullmatch(r"[\w.][\w./-]*", name)
                      and ("/" in name or re.search(r"\.(md|hpp|h|cpp|cmake|txt|py|1)$", name))]
            for name in names:
                if re.match(r"https?:|mailto:|/|\.\./|(./)?build/|arcalloc[/.]\w+/\d", name):
                    continue
                looked_at += 1
                places = (root / name, root / page.parent / name, root / "include/arcalloc" / name,
                          root / "include" / name, root / "src" / name)
                if not any(place.exists() for place in places):
                    findings.append(f"{page}:{number}: `{name}` does not exist")
    if looked_at == 0:
        findings.append("found no path in any document")


def flags_of(program, *command):
    done = subprocess.run([program, *command, "--help"], capture_output=True, text=True)
    return set(re.findall(r"(?<![\w-])--[a-z][a-z-]*", done.stdout)) if done.returncode == 0 else set()


def check_flags(root, program, pages, findings):
    known = {command: flags_of(program, command) for command in COMMANDS}
    own = flags_of(program)
    for command, flags in known.items():
        if not flags:
            findings.append(f"arcalloc {command} --help: shows no flags")
    every = own.union(*known.values())
    looked_at = 0
    for page in pages:
        for number, line in enumerate(read(root, page).splitlines(), 1):
            match = re.search(r"(?:\barcalloc (convert|decode|doctor|replay|report|tune)|\./run)\b([^`|]*)", line)
            if not match:
                continue
            for flag in re.findall(r"(?<![\w-])--[a-z][a-z-]*", match.group(2)):
                looked_at += 1
                if flag not in known[match.group(1) or "decode"] | {"--help"}:
                    findings.append(f"{page}:{number}: arcalloc {match.group(1) or 'decode'} has no {flag}")
    if looked_at == 0:
        findings.append("found no flag in any document")
    manual = {"--" + flag for flag in re.findall(r"\bFl -([a-z][a-z-]*)", read(root, "man/arcalloc.1"))}
    findings += [f"man/arcalloc.1: does not explain {flag}" for flag in sorted(every - manual)]
    findings += [f"man/arcalloc.1: explains {flag}, which the program does not take" for flag in sorted(manual - every)]


def main():
    given = tree.arguments("program")
    pages = tree.files(given.root, suffixes=(".md",))
    pages = [page for page in pages if page.name != "CHANGELOG.md"]
    findings = []
    check_settings(given.root, pages, findings)
    check_counters(given.root, findings)
    check_meanings(given.root, findings)
    check_series(given.root, findings)
    check_statuses(given.root, findings)
    check_paths(given.root, pages, findings)
    check_flags(given.root, given.program, pages, findings)
    tree.finish(findings, len(pages), "documents")


main()
