"""What each suite needs beyond Python: runs leave out the suites that miss something, `.ci/install` installs it.

`python3 -m tests.needs` prints what is missing, one to a line: its kind, its name, and the suites that need it.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from tests.tables import table

SUITES = ("embedded", "postgresql", "browser", "shops", "faults", "image", "citus")  # the most demanding one last
EMBEDDED, POSTGRESQL, BROWSER, SHOPS, FAULTS, IMAGE, CITUS = SUITES
ROOT = Path(__file__).parent.parent


class Need(NamedTuple):
    """A row of needs.toml: a Debian package, or a folder whose npm packages are installed or built."""

    kind: str
    name: str
    shows: tuple[str, ...]
    suites: tuple[str, ...]

    def is_met(self) -> bool:
        return any(_files(each) if "/" in each else shutil.which(each, path=_PATH) for each in self.shows)


def _files(pattern: str) -> list[Path]:
    """Return the files that a pattern names, in the checkout or from the root."""
    return sorted((Path("/") if pattern.startswith("/") else ROOT).glob(pattern.lstrip("/")))


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"  # where Debian keeps nginx, also for ordinary users
ON_CITUS = os.environ.get("SVC_TEST_ON") == CITUS
_BUILT = _files("/var/tmp/svc-citus/*/done")  # by .ci/citus
CITUS_PREFIX = Path(os.environ.get("CITUS_PREFIX", _BUILT[-1].parent if _BUILT else "/"))
IMAGE_STORE = Path("/var/tmp/svc-image")
TABLE = table("needs.toml")
NEEDS = tuple(
    Need(kind, name, tuple(each.format(name=name, citus=CITUS_PREFIX) for each in need["shows"]), tuple(need["suites"]))
    for kind, needs in TABLE["needs"].items()
    for name, need in needs.items()
)


def missing(suites: Iterable[str] = SUITES) -> list[Need]:
    """Return what is missing for any of these suites, in the order of the table."""
    return [need for need in NEEDS if not set(need.suites).isdisjoint(suites) and not need.is_met()]


if __name__ == "__main__":
    for each in missing():
        print(each.kind, each.name, *each.suites)  # noqa: T201 - a command's output
