"""`make drills`: runs the drills among the tests, a few times each, and writes the table of docs/operations.md."""

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple
from xml.etree import ElementTree as ET

from tests.conftest import ROOT

PAGE = ROOT / "docs" / "operations.md"
HEAD = ("| drill | shown by | times | lost | first right answer |", "|---|---|---:|---:|---|")
ENGINE, SUPERVISOR, CITUS = "tests/storage/engine", "tests/cli/test_supervisor.py", "tests/distributed"


class Drill(NamedTuple):
    """What is done, the test that does it and asserts that nothing is lost, and what its recorded `seconds` mean."""

    title: str
    file: str
    test: str
    answer: str = "after {:.1f} s"


DRILLS = (
    Drill(
        "a frozen network, a second of delay a packet, a locked table, under a mix of writes",
        f"{ENGINE}/test_lost_commits.py",
        "test_every_write_has_an_answer_within_eight_seconds_whatever_the_mix",
        "the last answer after {:.1f} s",
    ),
    Drill(
        "a worker killed while it starts, and later",
        SUPERVISOR,
        "test_a_worker_that_ends_at_its_start_or_later_is_replaced_within_two_seconds",
        "replaced after {:.1f} s",
    ),
    Drill(
        "SIGTERM while a worker hangs in its start",
        SUPERVISOR,
        "test_sigterm_ends_the_workers_within_ten_seconds_also_one_that_never_starts",
        "stopped after {:.1f} s",
    ),
    Drill(
        "SQLite's `-wal` removed",
        f"{ENGINE}/test_database.py",
        "test_without_its_wal_file_nothing_is_acknowledged_and_what_was_is_not_lost",
        "{:.1f} s after it is back",
    ),
    Drill(
        "an upgrade, and back to the last release",
        "tests/cli/test_backup.py",
        "test_the_release_before_goes_on_with_its_data_after_an_upgrade_and_a_rollback",
        "{:.1f} s after `restore`",
    ),
    Drill(
        "two processes restarted behind nginx and Caddy under load",
        "tests/snippets/test_proxies.py",
        "test_two_processes_are_restarted_one_after_the_other_without_a_failed_call",
        "no call fails",
    ),
    Drill("each alert in its outage", "tests/test_alerts.py", "test_an_alert_fires_in_its_outage", "it fires"),
    Drill(
        "a Citus worker down",
        f"{CITUS}/test_calls.py",
        "test_the_programs_of_a_stopped_worker_get_503_and_the_others_200",
        "the others at once, its own {:.1f} s after it is back",
    ),
    Drill(
        "a leaked key replaced while another Citus worker is down",
        f"{CITUS}/test_calls.py",
        "test_a_leaked_key_is_replaced_while_another_node_is_down",
        "the next call",
    ),
    Drill(
        "`svc admin db distribute` cut off at every step, empty and with rows",
        f"{CITUS}/test_distributing.py",
        "test_each_step_can_be_the_one_that_is_interrupted",
        "goes on",
    ),
)


def main() -> int:
    """Run the drills, print and write their table; return 1 if a test failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults.drills", description=__doc__)
    parser.add_argument("--only", default="", help="run drills whose title contains this")
    parser.add_argument("--times", type=int, default=3, help="run each so often")
    options = parser.parse_args()
    chosen = [drill for drill in DRILLS if options.only in drill.title]
    rows = {drill.title: row for drill in chosen if (row := _row(drill, options.times))}
    table = write_table(PAGE, HEAD, rows, [drill.title for drill in DRILLS])
    sys.stdout.write(f"{table}\n")
    return int("FAILED" in table)


def write_table(page: Path, head: Sequence[str], rows: dict[str, str], order: Iterable[str]) -> str:
    """Put rows into the table of a page, by their first cells, and leave the others; return the table."""
    before, _, rest = page.read_text(encoding="utf-8").partition(head[0])
    earlier, _, after = rest.partition("\n\n")
    lines = {line.split(" | ")[0].removeprefix("| "): line for line in earlier.splitlines()[2:]} | rows
    table = "\n".join([*head, *(lines[name] for name in order if name in lines)])
    page.write_text(f"{before}{table}\n\n{after}", encoding="utf-8")
    return table


def _row(drill: Drill, times: int) -> str:
    """Run a drill and return its line: how often it passed, and the longest time of all; "" if it cannot run here."""
    cases = [case for _ in range(times) for case in _run(drill)]
    passed = [case for case in cases if case.find("failure") is None and case.find("error") is None]
    lost = "0" if passed == cases else f"FAILED {len(cases) - len(passed)} times"
    seconds = max((float(each.attrib["value"]) for case in passed for each in case.iter("property")), default=0.0)
    line = f"| {drill.title} | `{drill.file}` | {len(passed)} | {lost} | {drill.answer.format(seconds)} |"
    return line if cases else ""


def _run(drill: Drill) -> Iterator[ET.Element]:
    """Run a drill's test and yield its cases, with what they recorded."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.xml"
        options = ["-q", "-p", "no:cacheprovider", "-o", "junit_family=xunit1", f"--junitxml={report}"]
        command = [sys.executable, "-m", "pytest", *options, f"{drill.file}::{drill.test}"]
        environment = os.environ | ({"SVC_TEST_ON": "citus"} if drill.file.startswith(CITUS) else {})
        subprocess.run(command, cwd=ROOT, env=environment, check=False, stdout=subprocess.DEVNULL)
        yield from ET.parse(report).iter("testcase")


if __name__ == "__main__":
    sys.exit(main())
