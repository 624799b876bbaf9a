"""What each suite needs beyond Python: runs leave out the suites that miss something, `.ci/install` installs it.

`python3 -m tests.needs` prints what is missing, one to a line: its kind, its name, and the suites that need it.
"""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

EMBEDDED, POSTGRESQL, BROWSER, SHOPS, FAULTS, IMAGE, CITUS = SUITES = (  # from the least to the most demanding
    "embedded",
    "postgresql",
    "browser",
    "shops",
    "faults",
    "image",
    "citus",
)
ROOT = Path(__file__).parent.parent


class Need(NamedTuple):
    """A Debian package, or a folder whose npm packages are installed or built, and where that shows."""

    kind: str  # "apt", "npm", "built", "image" or "citus"
    name: str
    shows: tuple[str, ...]  # a program on the PATH, or a pattern of files; any of them is enough
    suites: tuple[str, ...]

    def is_met(self) -> bool:
        """Return whether it is installed."""
        return any(_files(each) if "/" in each else shutil.which(each, path=_PATH) for each in self.shows)


def _files(pattern: str) -> list[Path]:
    """Return the files that a pattern names, in the checkout or from the root."""
    return sorted((Path("/") if pattern.startswith("/") else ROOT).glob(pattern.lstrip("/")))


_PATH = f"{os.environ.get('PATH', '')}:/usr/sbin:/usr/local/sbin"  # where Debian keeps nginx, also for ordinary users
ON_CITUS = os.environ.get("SVC_TEST_ON") == CITUS
_BUILT = _files("/var/tmp/svc-citus/*/done")  # by .ci/citus
CITUS_PREFIX = Path(os.environ.get("CITUS_PREFIX", _BUILT[-1].parent if _BUILT else "/"))
IMAGE_STORE = Path("/var/tmp/svc-image")
_RUBY = "/usr/share/rubygems-integration/all/gems"
NEEDS = (
    Need("apt", "postgresql", ("/usr/lib/postgresql/*/bin/initdb",), (POSTGRESQL, FAULTS, IMAGE, CITUS)),
    Need("apt", "redis-server", ("redis-server",), (POSTGRESQL, IMAGE)),
    Need("apt", "prometheus", ("promtool",), (POSTGRESQL,)),
    Need("apt", "buildah", ("buildah",), (IMAGE,)),
    Need("apt", "mmdebstrap", ("mmdebstrap",), (IMAGE,)),
    Need("image", "image", (f"{IMAGE_STORE}/done",), (IMAGE,)),
    Need("apt", "chromium", ("chromium", "chromium-browser"), (BROWSER, SHOPS)),
    Need("apt", "npm", ("npm",), (BROWSER, SHOPS)),
    Need("apt", "nginx-light", ("nginx",), (SHOPS,)),
    Need("apt", "caddy", ("caddy",), (SHOPS,)),
    Need("apt", "apache2-bin", ("apache2",), (SHOPS,)),
    Need("apt", "curl", ("curl",), (SHOPS,)),
    Need("apt", "ruby", ("ruby",), (SHOPS,)),
    Need("apt", "ruby-actionpack", (f"{_RUBY}/actionpack-*",), (SHOPS,)),
    Need("apt", "ruby-railties", (f"{_RUBY}/railties-*",), (SHOPS,)),
    Need("apt", "php-cli", ("php",), (SHOPS,)),
    Need("apt", "php-curl", ("/etc/php/*/cli/conf.d/*-curl.ini",), (SHOPS,)),
    Need("apt", "php-laravel-framework", ("/usr/share/php/Illuminate/autoload.php",), (SHOPS,)),
    *(
        Need("npm", folder, (f"{folder}/node_modules/.package-lock.json",), suites)
        for folder, suites in (
            ("tests/tracking_api/dashboard/pages/node", (BROWSER,)),  # axe-core
            ("tests/mcp_server/node", (SHOPS,)),  # the MCP inspector, the conformance suite, and the Node they need
            ("tests/snippets/node", (SHOPS,)),  # Express
            ("tests/openapi_clients", (SHOPS,)),  # the generator of TypeScript clients
        )
    ),
    Need("built", "browser", ("examples/vite-react/node_modules/svc-sdk",), (SHOPS,)),
    Need("built", "browser", ("examples/next/.next/BUILD_ID",), (SHOPS,)),
    Need("citus", "citus", (f"{CITUS_PREFIX}/usr/share/postgresql/*/extension/citus.control",), (CITUS,)),
)


def missing(suites: Iterable[str] = SUITES) -> list[Need]:
    """Return what is missing for any of these suites, in the order of the table."""
    return [need for need in NEEDS if not set(need.suites).isdisjoint(suites) and not need.is_met()]


if __name__ == "__main__":
    for each in missing():
        print(each.kind, each.name, *each.suites)  # noqa: T201 - a command's output
