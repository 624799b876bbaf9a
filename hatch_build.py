"""The build's hook: it puts the commit into the wheel, from COMMIT or from git, for `svc --version` and others."""

import os
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class CustomBuildHook(BuildHookInterface[Any]):
    """Writes web/commit.txt beside the built files, never into the checkout."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the commit to a wheel; an editable install runs whatever is checked out."""
        commit = os.environ.get("COMMIT", "")
        if not commit:
            command = ["git", "-C", self.root, "rev-parse", "--short=9", "HEAD"]
            with suppress(OSError):  # there is no git; without a repository the output is empty
                done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - our own words
                commit = done.stdout.strip()
        if commit and version == "standard":
            file = Path(self.directory, "commit.txt")
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(f"{commit}\n", encoding="ascii")
            build_data["force_include"][str(file)] = "web/commit.txt"
