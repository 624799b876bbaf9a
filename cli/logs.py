"""Logging of the commands: one line for each event on stderr, without requests and secrets."""

import logging.config
from typing import Any

LOGGING: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {"line": {"format": "%(asctime)s %(levelname)s %(name)s: %(message)s"}},
    "handlers": {"stderr": {"class": "logging.StreamHandler", "formatter": "line", "stream": "ext://sys.stderr"}},
    "root": {"level": "INFO", "handlers": ["stderr"]},
    "loggers": {name: {"level": "WARNING"} for name in ("alembic", "mcp", "uvicorn")},
}


def configure() -> None:
    """Set logging up for this process."""
    logging.config.dictConfig(LOGGING)
