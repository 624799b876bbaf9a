"""`make drills`: runs the tests that docs/operations.md names as drills, a few times each, and renews their table."""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "operations.md"
DRILL = re.compile(
    r"^\| (?P<title>.+) \| `(?P<file>tests/\S+)::(?P<test>\w+)` \| \d+ \| (?P<lost>.+) \| (?P<answer>.+) \|$",
    re.MULTILINE,
)


def main() -> int:
    """Run the drills, print and write their lines; return 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.drills", description=__doc__)
    parser.add_argument("--only", default="", help="run drills whose title contains this")
    parser.add_argument("--times", type=int, default=3, help="run each so often")
    options = parser.parse_args()
    for drill in DRILL.finditer(PAGE.read_text(encoding="utf-8")):
        cases = [case for _ in range(options.times) for case in _run(drill)] if options.only in drill["title"] else []
        if cases:  # it was asked for, and this machine has what it needs
            line = _line(drill, cases)
            sys.stdout.write(f"{line}\n")
            PAGE.write_text(PAGE.read_text(encoding="utf-8").replace(drill[0], line), encoding="utf-8")
    return int("FAILED" in PAGE.read_text(encoding="utf-8"))


def _line(drill: re.Match[str], cases: list[ET.Element]) -> str:
    """Return a drill's new line: how often it passed, and in its answer the longest time that a test recorded."""
    passed = [case for case in cases if case.find("failure") is None and case.find("error") is None]
    lost = "0" if passed == cases else f"FAILED {len(cases) - len(passed)} times"
    seconds = max((float(each.attrib["value"]) for case in passed for each in case.iter("property")), default=0.0)
    answer = re.sub(r"\d+\.\d s", f"{seconds:.1f} s", drill["answer"])
    return f"| {drill['title']} | `{drill['file']}::{drill['test']}` | {len(passed)} | {lost} | {answer} |"


def _run(drill: re.Match[str]) -> Iterator[ET.Element]:
    """Run a drill's test and yield its cases, with what they recorded."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={report}"]
        command = [sys.executable, "-m", "pytest", *options, f"{drill['file']}::{drill['test']}"]
        environment = os.environ | ({"SVC_TEST_ON": "citus"} if "/distributed/" in drill["file"] else {})
        subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.DEVNULL)
        yield from ET.parse(report).iter("testcase")


if __name__ == "__main__":
    sys.exit(main())
