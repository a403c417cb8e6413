# SPDX-License-Identifier: Apache-2.0
"""How ./test reads ctest's report: skips with their reasons, and nothing unclear counted as passed."""
import subprocess
import tempfile

import tree

REPORT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="(empty)" tests="6">
\t<testcase name="a.passes" classname="a" time="0.1" status="run">
\t\t<system-out>[       OK ] a.passes (0 ms)</system-out>
\t</testcase>
\t<testcase name="a.fails" classname="a" time="0.1" status="fail">
\t\t<failure message=""/>
\t\t<system-out>x.cpp:3: Failure</system-out>
\t</testcase>
\t<testcase name="a.skips" classname="a" time="0.1" status="notrun">
\t\t<skipped message="SKIP_REGULAR_EXPRESSION_MATCHED"/>
\t\t<system-out>/x/y.cpp:40: Skipped
no &lt;model&gt; &amp; no &quot;tokenizer&quot;

[  SKIPPED ] a.skips (0 ms)</system-out>
\t</testcase>
\t<testcase name="repo.skips" classname="r" time="0.1" status="notrun">
\t\t<skipped message="SKIP_RETURN_CODE=77"/>
\t\t<system-out>skipped: mandoc is not installed
</system-out>
\t</testcase>
\t<testcase name="a.has_no_program" classname="a" time="0.1" status="notrun">
\t\t<skipped message="Unable to find executable"/>
\t\t<system-out></system-out>
\t</testcase>
\t<testcase name="a.switched_off" classname="a" time="0.1" status="disabled">
\t\t<skipped message="Disabled"/>
\t\t<system-out></system-out>
\t</testcase>
</testsuite>
"""
EXPECTED = [
    "passed\ta.passes\t", "failed\ta.fails\t", 'skipped\ta.skips\tno <model> & no "tokenizer"',
    "skipped\trepo.skips\tmandoc is not installed", "failed\ta.has_no_program\t", "failed\ta.switched_off\t",
]


def main():
    given = tree.arguments()
    with tempfile.NamedTemporaryFile("w", suffix=".xml") as report:
        report.write(REPORT)
        report.flush()
        done = subprocess.run(["awk", "-f", given.root / "tools/junit_lines.awk", report.name],
                              capture_output=True, text=True, check=True)
    found = done.stdout.splitlines()
    findings = [f"found `{line}`, which is not expected" for line in found if line not in EXPECTED]
    findings += [f"did not find `{line}`" for line in EXPECTED if line not in found]
    tree.finish(findings, len(found), "lines of a report")


main()
