"""Files with a secret: written atomically, readable only by their owner."""

import os
import tempfile
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Put text into a file of mode 0600, and create its folder if necessary."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mkstemp makes it 0600
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
