"""AGENTS.md for one program: the guides that a coding agent needs to integrate it, without a secret."""

import re

from presentation import guides
from storage.management.program_settings import Program
from storage.rules import commission_rate
from storage.rules.commission import CommissionType

HEAD = "# Affiliate tracking\n\nHow to integrate this program, for coding agents and people.\n"
GUIDES = ("integration", "snippets", "verify", "errors")
CHECKOUT = "## Metadata of your checkout\n"
FRAMEWORKS = {  # its name, and the languages of the tracker's snippet and of the server's
    "nextjs": ("Next.js", "tsx", "js"),
    "vite": ("Vite", "html", "js"),
    "react": ("React", "html", "js"),
    "express": ("Express", "html", "js"),
    "django": ("Django", "html", "python"),
    "flask": ("Flask", "html", "python"),
    "fastapi": ("FastAPI", "html", "python"),
    "rails": ("Rails", "html", "ruby"),
    "laravel": ("Laravel", "html", "php"),
}

_UNQUOTED = str.maketrans({"|": "/", "`": "'", "<": "(", ">": ")", "\\": "/"})


def written(program: Program, *, base_url: str, code: str | None, framework: str | None = None) -> str:
    """Return the Markdown for a program; `code` is the code of one of its partners, for the examples.

    It leads with the snippets of a framework of FRAMEWORKS.
    """
    settings = program.settings
    filling = guides.filling(program, base_url=base_url, code=code)
    facts = {
        "Program id": f"`{program.id}`",
        "Program": _cell(settings.name),
        "Domain": _cell(settings.domain),
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
    parts.insert(GUIDES.index("verify"), _demoted(_checkout(guides.filled("payments", filling))))
    lead = [_lead(guides.filled("snippets", filling), *FRAMEWORKS[framework])] if framework in FRAMEWORKS else []
    return "\n".join([head, *lead, *parts])


def _lead(snippets: str, name: str, browser: str, server: str) -> str:
    """Return the first snippet of the browser's language (the tracker), and the last of the server's."""
    tracker, calls = (
        re.findall(rf"^```{each}\n.*?^```$", snippets, re.MULTILINE | re.DOTALL) for each in (browser, server)
    )
    return f"## Start here: {name}\n\nOn every page:\n\n{tracker[0]}\n\nOn your server:\n\n{calls[-1]}\n"


def _checkout(payments: str) -> str:
    """Return the chapter on the checkout's metadata."""
    chapter = payments.split(CHECKOUT)[1].split("\n## ", maxsplit=1)[0]
    return f"# Metadata of your checkout, with a connected Stripe account\n{chapter}"


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
    """Return text that people chose as code, which Markdown does not read, on one line of one cell."""
    return f"`{' '.join(name.split()).translate(_UNQUOTED)}`"
