"""Which build of the service this is: its version and, where the build knew it, the commit."""

from importlib.metadata import version
from pathlib import Path

PACKAGE = "affiliate-tracking-service"
_file = Path(__file__).with_name("commit.txt")  # `hatch_build.py` puts it into the wheel
COMMIT = _file.read_text(encoding="ascii").strip() if _file.exists() else ""
VERSION = f"{version(PACKAGE)}+{COMMIT}" if COMMIT else version(PACKAGE)
