"""The files that are written from the code: `make generated` writes them, test_readme.py compares them."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from types import ModuleType

from configuration import Configuration, variable_of
from storage.rules import agent_caps
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
from storage.rules.setting_kinds import Kind, Section, Setting
from storage.rules.settings import SECTIONS, SETTINGS
from tests import sdk_files, statements
from web.errors import STATUS

HEAD = """\
# Program settings

Each program has these settings. Owners change them on the page Settings or with `PATCH /api/programs/:id`; agents with
the scope `programs:write` change them with `PATCH /api/agent/v1/programs/:id`. The table is made from
`storage/rules/settings.py` (`make generated`).
"""
CAPS_HEAD = """\
# Caps of agent keys

An owner limits what agent keys may change, on the page Settings, Agents or with `PATCH /api/programs/:id/agent-caps`.
A change beyond a cap is 403 `over_cap`, `error.cap` names the cap, and nothing of the request is applied. Default
amounts are 100.00 of the program's currency. The caps are declared in `storage/rules/agent_caps.py`.
"""
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


def settings_page() -> str:
    """Return the page."""
    parts = [HEAD, *_sections(SECTIONS, SETTINGS), CAPS_HEAD, *_sections(agent_caps.SECTIONS, agent_caps.CAPS)]
    return "\n".join(parts)


def _sections(sections: Iterable[Section], settings: Iterable[Setting]) -> Iterator[str]:
    for section in sections:
        rows = [_row(setting) for setting in settings if setting.section == section]
        hint = f"{section.hint}\n\n" if section.hint else ""
        table = "\n".join(
            ["| setting | on the page | what it decides | values | default |", "|---|---|---|---|---|", *rows]
        )
        yield f"## {section.title}\n\n{hint}{table}\n"


def _row(setting: Setting) -> str:
    default = "required" if setting.is_required else setting.if_empty or f"`{setting.default}`"
    decides = f"{setting.description} Owners only." if setting.owner_only else setting.description
    return f"| `{setting.public_name}` | {setting.label} | {decides} | {_values(setting)} | {default} |"


def _values(setting: Setting) -> str:
    words = {
        Kind.TEXT: "1 to 512 characters",
        Kind.HOST: "a host name, with or without a port",
        Kind.HOSTS: "host names, separated by spaces or commas",
        Kind.CURRENCY: "a code of three letters",
        Kind.CHOICE: ", ".join(f"`{value}`" for value in setting.options),
        Kind.NUMBER: f"{setting.lowest} to {setting.highest:,} {setting.unit}",
        Kind.CENTS: f"{setting.lowest} to {setting.highest:,} cents",
        Kind.PERCENT: f"0 to 100 {setting.unit}, two decimals",
        Kind.SWITCH: "`true`, `false`",
        Kind.SETTINGS: "names of settings that agents may change",
        Kind.COMMISSION_RATE: f"percent: 0 to 100, two decimals; flat: 0 to {setting.highest:,} cents",
    }
    empty = f"; `null`: {setting.if_empty}" if setting.if_empty else ""
    return words[setting.kind].rstrip() + empty


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
    "docs/settings.md": settings_page,
} | {f"tests/storage/sql/{name}.sql": partial(statements.sql, each) for name, each in statements.statements()}


FILES |= sdk_files.files()


if __name__ == "__main__":
    for name, content in FILES.items():
        (ROOT / name).write_text(content(), encoding="utf-8")
