"""AGENTS.md for one program: the guides that a coding agent needs to integrate it, without a secret."""

import re

from presentation import guides
from storage.lists.programs import Program
from storage.rules.commission import CommissionType, shown_rate

LINKS = (
    "More: [all guides]({base}/docs), [every error code]({base}/docs/errors), [the API]({base}/openapi.json), "
    "[an index for language models]({base}/llms.txt).\n"
)
VERIFY = """## Check it

1. `svc test click`, `svc test lead` and `svc test sale` send test calls with the key of `.svc/.env`.
2. Open your shop through a partner's link, sign up, and buy. A headless browser counts only in a sandbox.
3. `svc status` shows what has arrived and the next step; `svc doctor URL` checks a page of your shop.
4. `svc explain TRANSACTION` says why a sale was or was not credited.
"""
HEAD = "# Affiliate tracking\n\nHow to integrate this program, for coding agents and people.\n"
GUIDES = ("integration", "snippets", "cases", "verify", "errors")
CHECKOUT = "## Metadata of your checkout\n"
FRAMEWORKS = {  # its name, and the chapters of `snippets` that its shop needs
    "nextjs": ("Next.js", ("Next.js", "Node.js")),
    "vite": ("Vite", ("The tracker", "React and Vite", "Node.js")),
    "react": ("React", ("The tracker", "React and Vite", "Node.js")),
    "express": ("Express", ("The tracker", "Node.js", "Express")),
    "django": ("Django", ("The tracker", "Python", "Django")),
    "flask": ("Flask", ("The tracker", "Python", "Flask")),
    "fastapi": ("FastAPI", ("The tracker", "Python", "FastAPI")),
    "rails": ("Rails", ("The tracker", "Ruby", "Rails")),
    "laravel": ("Laravel", ("The tracker", "PHP", "Laravel")),
    "php": ("PHP", ("The tracker", "PHP")),
}

_UNQUOTED = str.maketrans({"|": "/", "`": "'", "<": "(", ">": ")", "\\": "/"})


def written(program: Program, *, base_url: str, code: str | None, framework: str | None = None) -> str:
    """Return the Markdown for a program, with a partner's `code` in it and a framework's snippets first."""
    settings = program.settings
    unit = "%" if settings.commission_type == CommissionType.PERCENT else f" cents ({settings.currency}) a sale"
    filling = guides.filling(program, base_url=base_url, code=code)
    facts = {
        "Program id": f"`{program.id}`",
        "Program": _cell(settings.name),
        "Domain": _cell(settings.domain),
        "Base URL of the service": f"`{base_url}`",
        "Commission rate": f"{shown_rate(settings.commission_type, settings.rate)}{unit}",
        "Commission per lead": f"{settings.lead_commission_cents} cents ({settings.currency})",
        "Cookie duration": f"{settings.cookie_window_days} days",
        "A click counts for": f"{settings.attribution_window_days} days",
        "Lead capture mode": f"`{settings.lead_auth_policy}`",
        "Key": "`SERVICE_API_KEY`, from the environment; never in code, in a browser or in a committed file",
    }
    table = "\n".join(f"| {name} | {value} |" for name, value in facts.items())
    head = f"{HEAD}\n| | |\n|---|---|\n{table}\n\n{LINKS.format(base=base_url)}"
    chapters = {name: _demoted(guides.filled(name, filling)) for name in GUIDES}
    chapter = guides.filled("payments", filling).split(CHECKOUT)[1].split("\n## ", maxsplit=1)[0]
    checkout = _demoted(f"# Metadata of your checkout, with a connected Stripe account\n{chapter}")
    if framework in FRAMEWORKS:
        first = _lead(guides.filled("snippets", filling), *FRAMEWORKS[framework])
        parts = [first, VERIFY, chapters["integration"], chapters["cases"], checkout]
    else:
        parts = [*chapters.values(), checkout]
    return re.sub(r"\]\((?:/docs/)?(?=[a-z][a-z#-]*\))", f"]({base_url}/docs/", "\n".join([head, *parts]))


def _lead(snippets: str, name: str, chapters: tuple[str, ...]) -> str:
    """Return the chapters of a framework, each a level lower, their links within the page without a target."""
    found = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", snippets, re.MULTILINE | re.DOTALL))
    parts = [f"### {chapter}\n{found[chapter]}".rstrip() for chapter in (*chapters, "Without JavaScript")]
    return "\n\n".join([f"## Start here: {name}", *parts]) + "\n"


def _demoted(markdown: str) -> str:
    """Return a guide as a chapter: every heading one level lower; a comment in a code block is not a heading."""
    fenced, lines = False, []
    for line in markdown.splitlines():
        fenced ^= line.startswith("```")
        lines.append(f"#{line}" if line.startswith("#") and not fenced else line)
    return "\n".join(lines) + "\n"


def _cell(name: str) -> str:
    """Return text that people chose as code, which Markdown does not read, on one line of one cell."""
    return f"`{' '.join(name.split()).translate(_UNQUOTED)}`"
