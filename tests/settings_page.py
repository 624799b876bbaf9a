"""docs/settings.md, as the settings themselves say it."""

from collections.abc import Iterable, Iterator

from storage.rules import agent_caps
from storage.rules.setting_kinds import Kind, Section, Setting
from storage.rules.settings import SECTIONS, SETTINGS

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


def markdown() -> str:
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
