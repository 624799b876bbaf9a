"""The files that are written from the code: `make generated` writes them, test_readme.py compares them."""

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

from configuration import Configuration, variable_of
from storage.rules.errors import (
    ServiceError,
    clicks,
    conversions,
    credentials,
    logins,
    management,
    refunds,
    requests,
)
from tests import sdk_files, settings_page, statements
from web.errors import STATUS

ROOT = Path(__file__).parent.parent
ERRORS = {
    "Any request": requests,
    "Keys": credentials,
    "Clicks": clicks,
    "Leads and sales": conversions,
    "Refunds": refunds,
    "Signing in": logins,
    "Dashboard, agents and webhooks": management,
}


def errors_guide() -> str:
    """Return the guide of error codes: its introduction, then a table for each subject."""
    introduction = (ROOT / "presentation/guides/errors.md").read_text(encoding="utf-8").partition("\n## ")[0]
    return "\n".join([introduction, *(_errors_of(title, module) for title, module in ERRORS.items())])


def _errors_of(title: str, module: ModuleType) -> str:
    rows = [f"| `{error.code}` | {STATUS[error.code]} | {error.message} | {error.hint} |" for error in _classes(module)]
    return "\n".join(
        [f"## {title}\n", "| code | status | what happened | what to do |", "|---|---|---|---|", *rows, ""]
    )


def _classes(module: ModuleType) -> Iterator[type[ServiceError]]:
    for value in vars(module).values():
        if isinstance(value, type) and value.__module__ == module.__name__:
            yield value


def configuration_page() -> str:
    """Return the page about configuration, its table written from the fields."""
    before, header, rest = (ROOT / "docs/configuration.md").read_text(encoding="utf-8").partition("| variable |")
    _, end, after = rest.partition("\n\n")
    rows = [
        f"| `{variable_of(name)}` | {_default(field.default)} | {field.description} |"
        for name, field in Configuration.model_fields.items()
    ]
    return before + "\n".join([f"{header} default | meaning |", "|---|---|---|", *rows]) + end + after


def _default(value: object) -> str:
    text = {True: "on", False: "off"}.get(value, value) if isinstance(value, bool) else value
    return f"`{text}`" if text else "none"


FILES: dict[str, Callable[[], str]] = {
    "presentation/guides/errors.md": errors_guide,
    "docs/configuration.md": configuration_page,
    "docs/settings.md": settings_page.markdown,
} | {f"tests/storage/sql/{name}.sql": partial(statements.sql, each) for name, each in statements.statements()}
FILES |= sdk_files.files()


if __name__ == "__main__":
    for name, content in FILES.items():
        (ROOT / name).write_text(content(), encoding="utf-8")
