"""AGENTS.md for one program: the guides that a coding agent needs to integrate it, without a secret."""

from presentation import guides
from storage.management.program_settings import Program
from storage.rules import commission_rate
from storage.rules.commission import CommissionType

HEAD = "# Affiliate tracking\n\nHow to integrate this program, for coding agents and people.\n"
GUIDES = ("integration", "snippets", "verify", "errors")


def written(program: Program, *, base_url: str, code: str | None) -> str:
    """Return the Markdown for a program; `code` is a code of one of its partners, for the examples."""
    settings = program.settings
    filling = guides.filling(program, base_url=base_url, code=code)
    facts = {
        "Program id": f"`{program.id}`",
        "Program": _cell(settings.name),
        "Domain": f"`{settings.domain}`",
        "Base URL of the service": f"`{base_url}`",
        "Commission rate": _commission(program),
        "Commission per lead": f"{settings.lead_commission_cents} cents ({settings.currency})",
        "Cookie duration": f"{settings.cookie_window_days} days",
        "A click counts for": f"{settings.attribution_window_days} days",
        "Lead capture mode": f"`{settings.lead_auth_policy}`",
        "Key": "`SERVICE_API_KEY`, from the environment; never in code, in a browser or in a committed file",
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    head = f"{HEAD}\n| | |\n|---|---|\n{table}\n"
    parts = [
        _demoted(guides.filled(name, filling)).replace("](errors)", f"]({base_url}/docs/errors)") for name in GUIDES
    ]
    return "\n".join([head, *parts])


def _demoted(markdown: str) -> str:
    """Return a guide as a chapter: every heading one level lower; a comment in a code block is not a heading."""
    fenced, lines = False, []
    for line in markdown.splitlines():
        fenced ^= line.startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not fenced else line)
    return "\n".join(lines) + "\n"


def _commission(program: Program) -> str:
    settings = program.settings
    shown = commission_rate.shown(settings.commission_type, settings.rate)
    unit = "%" if settings.commission_type == CommissionType.PERCENT else f" cents ({settings.currency}) a sale"
    return f"{shown}{unit}"


def _cell(name: str) -> str:
    """Return a name that cannot leave its cell."""
    return name.replace("|", "/").replace("`", "'").replace("<", "(")
