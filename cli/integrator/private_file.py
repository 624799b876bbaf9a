"""Files that hold a secret: written whole or not at all, and readable by their owner alone."""

import os
import tempfile
from pathlib import Path


def write(path: Path, text: str) -> None:
    """Put text into a file of mode 0600, in a folder that is made if it is missing."""
    path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    number, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}-")  # mkstemp makes it 0600
    try:
        with os.fdopen(number, "w", encoding="utf-8") as file:
            file.write(text)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
