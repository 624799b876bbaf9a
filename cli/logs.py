"""Logging of the commands: a line for each event on stderr, as text or JSON, without requests, secrets and e-mails."""

import json
import logging.config
import re
import tomllib
from pathlib import Path
from typing import Any

import structlog
import typer
from structlog.stdlib import ProcessorFormatter

import configuration
from web.middleware import current_request

LOGGING = tomllib.loads(Path(__file__).with_name("logging.toml").read_text(encoding="utf-8"))
_SECRETS = (
    (re.compile(r"://[^\s/@]+@"), "://[secret]@"),
    (re.compile(r"[\w.%+-]+@[\w-]+(\.[\w-]+)+(?![\w.-]|:\d)"), "[e-mail]"),  # svc@worker-1.internal:5432 is none
    (re.compile(r"\b(aff|agt|inv|ses|oac|oat|ort|rst|set|whsec)_[\w.-]{20,}"), r"\1_[secret]"),
    (re.compile(r"\bBearer \S+"), "Bearer [secret]"),
)


def configure() -> None:
    """Set logging up for this process. Raises ConfigurationError."""
    configuration.load()
    logging.config.dictConfig(LOGGING)


def echo(text: str) -> None:
    """Print a line of the start, with its secrets, on stdout: a JSON object where SVC_LOG_FORMAT says so."""
    is_json = configuration.load().log_format == "json"
    typer.echo(json.dumps({"event": text, "level": "info"}) if is_json else text)


def formatter() -> logging.Formatter:
    """Return the formatter that SVC_LOG_FORMAT names."""
    plain = structlog.dev.ConsoleRenderer(
        colors=False, pad_event_to=0, pad_level=False, exception_formatter=structlog.dev.plain_traceback
    )
    is_json = configuration.load().log_format == "json"
    return ProcessorFormatter(
        foreign_pre_chain=[
            structlog.stdlib.add_log_level,
            structlog.stdlib.add_logger_name,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            _finish,
        ],
        processors=[
            ProcessorFormatter.remove_processors_meta,
            structlog.processors.JSONRenderer() if is_json else plain,
        ],
    )


def _finish(_: Any, __: str, event: structlog.typing.EventDict) -> structlog.typing.EventDict:
    """Add the ids of the request and its program, and hide what libraries may have put into messages and tracebacks."""
    scope = current_request.get()
    if scope is not None:
        program_id = scope.get("program_id") or scope.get("path_params", {}).get("program_id")
        event["request_id"] = scope.get("request_id")
        if program_id is not None:
            event["program_id"] = str(program_id)
    for name in ("event", "exception"):
        if name in event:
            event[name] = hidden(str(event[name]))
    return event


def hidden(text: str) -> str:
    """Return a text without e-mail addresses, keys and passwords of URLs."""
    for pattern, replacement in _SECRETS:
        text = pattern.sub(replacement, text)
    return text
