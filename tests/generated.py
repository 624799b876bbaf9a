"""The files that are written from the code: `make generated` writes them, test_generated.py compares them."""

from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

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
from tests import settings_page
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


FILES: dict[str, Callable[[], str]] = {
    "presentation/guides/errors.md": errors_guide,
    "docs/settings.md": settings_page.markdown,
}


if __name__ == "__main__":
    for name, content in FILES.items():
        (ROOT / name).write_text(content(), encoding="utf-8")
