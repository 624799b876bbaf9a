"""One line about `.svc/AGENTS.md` in the project's own AGENTS.md or CLAUDE.md, which coding agents read first."""

from pathlib import Path

import typer

from cli.integrator.output import Output

NAMES = ("AGENTS.md", "CLAUDE.md")
LINK = ".svc/AGENTS.md"
LINE = f"Affiliate tracking of this shop: read [{LINK}]({LINK}) before you change sign-up, checkout or page heads."


def add_line(project: Path, output: Output, *, yes: bool) -> list[str]:
    """Add the line to each of the project's own guides that has none, after asking; return the names of those changed.

    Without a terminal there is no one to ask: `--yes` adds the line, otherwise it is only proposed.
    """
    missing = [name for name in NAMES if _lacks(project / name)]
    added = [name for name in missing if yes or _agreed(name, output)]
    for name in added:
        path = project / name
        path.write_text(f"{path.read_text(encoding='utf-8').rstrip()}\n\n{LINE}\n".lstrip(), encoding="utf-8")
    for name in set(missing) - set(added):
        output.say(f"  {name} does not mention {LINK}; `svc init --yes` adds one line")
    return added


def _lacks(path: Path) -> bool:
    return path.is_file() and LINK not in path.read_text(encoding="utf-8", errors="replace")


def _agreed(name: str, output: Output) -> bool:
    return output.is_interactive and typer.confirm(f"Add one line about {LINK} to {name}?", default=True)
