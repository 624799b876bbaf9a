"""The table of results: on the screen, and in docs/performance.md between its two markers."""

import os
import platform
import sqlite3
import subprocess
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from benchmarks.results import Line
from tests.postgres import binaries

PAGE = Path(__file__).parent.parent / "docs" / "performance.md"
BEGIN, END = "<!-- results: written by python -m benchmarks -->", "<!-- end of results -->"
HEADINGS = ("", "calls/s", "p50 ms", "p99 ms", "measured", "target", "")


def print_lines(lines: Sequence[Line]) -> None:
    """Print the table."""
    table = Table(title=machine())
    for number, heading in enumerate(HEADINGS):
        table.add_column(heading, justify="right" if 1 <= number <= 3 else "left")
    for row in _rows(lines):
        table.add_row(*row)
    Console(width=None if os.isatty(1) else 160).print(table)


def write(lines: Sequence[Line], command: str) -> None:
    """Put the table, the command and the machine into the page."""
    before, _, rest = PAGE.read_text(encoding="utf-8").partition(BEGIN)
    after = rest.partition(END)[2]
    rows = [HEADINGS, ("---", "---:", "---:", "---:", "---", "---", "---"), *_rows(lines)]
    table = "\n".join(f"| {' | '.join(row)} |" for row in rows)
    PAGE.write_text(f"{before}{BEGIN}\n`{command}` on {machine()}:\n\n{table}\n{END}{after}", encoding="utf-8")


def machine() -> str:
    """Describe the machine in a line: processor, cores, system, and the versions that matter."""
    names = {"uvicorn", "starlette", "sqlalchemy", "uvloop"}
    libraries = ", ".join(f"{name} {version(name)}" for name in sorted(names))
    about = f"{_processor()}, {os.cpu_count()} cores, {platform.system()} {platform.release().split('-')[0]}"
    return f"{about}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}{_postgres()}, {libraries}"


def _processor() -> str:
    try:
        information = Path("/proc/cpuinfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return platform.machine()
    named = (row.partition(":")[2].strip() for row in information if row.startswith("model name"))
    return next(named, platform.machine())


def _postgres() -> str:
    where = binaries()
    if where is None:
        return ""
    output = subprocess.run([where / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    return f", PostgreSQL {output.split()[2]}"


def _rows(lines: Sequence[Line]) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for each in lines:
        figures = (each.name, f"{each.rate:,.0f}", f"{each.p50_ms:.1f}", f"{each.p99_ms:.1f}")
        for number, promise in enumerate(each.promises or (None,)):
            start = figures if number == 0 else ("", "", "", "")
            verdict = "" if promise is None or not promise.target else ("met" if promise.is_met else "MISSED")
            rows.append((*start, str(promise or ""), promise.target if promise else "", verdict))
    return rows
