"""The guides: for integrators beside this file, also the source of checklist and AGENTS.md; for operators in docs."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from publicsuffixlist import PublicSuffixList

from presentation.settings_models import is_host
from storage.lists.programs import Program
from storage.rules.errors import NotFound

DOMAIN = "shop.example"  # in the guides' examples
_FOLDER = Path(__file__).parent
NAMES = tuple(sorted(page.stem for page in _FOLDER.glob("*.md")))
SUBJECTS = {
    "Integrate": ("integration", "snippets", "tracker", "sdk", "payments", "cases"),
    "Check": ("verify", "cli", "errors"),
    "Run a program": ("dashboard", "connecting", "settings", "metrics", "key-rotation"),
    "Operators": (
        *("operations", "configuration", "commands", "importing"),
        *("scale", "performance", "reliability", "security"),
    ),
}
DOCS = tuple(name for names in SUBJECTS.values() for name in names if name not in NAMES)  # those in docs/
_PACKAGED, _CHECKOUT = _FOLDER / "docs", _FOLDER.parents[1] / "docs"  # pyproject.toml puts docs into the wheel
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)#]*)(#[^)]*)?\)")
_LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_BLOCK = re.compile(r"^```\w+ (\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)


class Filling(NamedTuple):
    """The values that replace a guide's example values; `code` is a partner's, None if there is no partner."""

    base_url: str
    program_id: int
    domain: str = DOMAIN
    code: str | None = None
    currency: str = "USD"


def filling(program: Program, *, base_url: str, code: str | None) -> Filling:
    """Return the values for a program's own guides; `code` is a partner's, None if there is no partner.

    People paste the guides into shells and pages: a domain from before domains were checked stays out of them.
    """
    settings = program.settings
    domain = settings.domain if is_host(settings.domain) else DOMAIN
    return Filling(base_url, program.id, domain, code and quote(code, safe=""), settings.currency)


@cache
def text(name: str) -> str:
    """Return a guide's Markdown. Raises NotFound for an unknown name."""
    if name in NAMES:
        return (_FOLDER / f"{name}.md").read_text(encoding="utf-8")
    if name not in DOCS:
        raise NotFound(f"There is no guide of this name; there are: {', '.join((*NAMES, *DOCS))}.")
    folder = _PACKAGED if _PACKAGED.exists() else _CHECKOUT
    return _LINK.sub(_served, (folder / f"{name}.md").read_text(encoding="utf-8"))


def _served(link: re.Match[str]) -> str:
    """Return a link between files as one between guides; a file that is not served is named, a picture left out."""
    is_picture, title, path, section = link[1], link[2], link[3], link[4] or ""
    name = Path(path).stem
    if path and not (path.endswith(".md") and name in (*NAMES, *DOCS)):
        return "" if is_picture else title
    return f"[{title}]({f'/docs/{name}' if path else ''}{section})"


@cache
def titles() -> Mapping[str, str]:
    """Return the title of each guide."""
    return {name: text(name).partition("\n")[0].removeprefix("# ") for name in (*NAMES, *DOCS)}


@cache
def about(name: str) -> str:
    """Return the first sentence of a guide."""
    paragraphs = (each for each in text(name).split("\n\n")[1:] if not each.startswith(("#", "```", "|")))
    return _LINKED.sub(r"\1", next(paragraphs).replace("\n", " ")).partition(". ")[0].removesuffix(".") + "."


def filled(name: str, filling: Filling) -> str:
    """Return a guide with a program's own values in its examples. Raises NotFound."""
    if name not in NAMES:
        return text(name).replace("https://track.example", filling.base_url)
    examples = {
        "https://svc.example": filling.base_url,
        '"program_id": 1': f'"program_id": {filling.program_id}',
        'data-svc-program-id="1"': f'data-svc-program-id="{filling.program_id}"',
        '"service-program-id" content="1"': f'"service-program-id" content="{filling.program_id}"',
        ".shop.example": f".{cookie_domain(filling.domain)}",
        "shop.example": filling.domain,
        "PARTNER_CODE": filling.code or "PARTNER_CODE",
        "USD": filling.currency,
    }
    example = re.compile("|".join(map(re.escape, examples)))
    return example.sub(lambda found: examples[found[0]], text(name))


def cookie_domain(domain: str) -> str:
    """Return the domain on which the tracker sets its cookie: the registrable one, by the public suffix list."""
    host = domain.partition(":")[0]
    is_ip_address = host.replace(".", "").isdigit()
    return host if is_ip_address else _public_suffixes().privatesuffix(host) or host


_public_suffixes = cache(PublicSuffixList)


def blocks(name: str, filling: Filling) -> dict[str, str]:
    """Return a guide's code blocks that have a name, filled: the steps of the checklist in `verify`, the snippets."""
    return {block[1]: block[2] for block in _BLOCK.finditer(filled(name, filling))}
