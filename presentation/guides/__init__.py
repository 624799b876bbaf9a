"""The guides: for integrators beside this file, for operators in docs; AGENTS.md of a program, made of them."""

import re
import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from publicsuffixlist import PublicSuffixList

from presentation.settings_models import is_host
from storage.lists.programs import Program
from storage.rules.commission import CommissionType, shown_rate
from storage.rules.errors import NotFound

DOMAIN = "shop.example"  # in the guides' examples
_FOLDER = Path(__file__).parent
NAMES = tuple(sorted(page.stem for page in _FOLDER.glob("*.md")))
_ORDER = tomllib.loads((_FOLDER / "guides.toml").read_text(encoding="utf-8"))
SUBJECTS, FRAMEWORKS = _ORDER["subjects"], _ORDER["frameworks"]
DOCS = tuple(name for names in SUBJECTS.values() for name in names if name not in NAMES)  # those in docs/
_PACKAGED, _CHECKOUT = _FOLDER / "docs", _FOLDER.parents[1] / "docs"  # pyproject.toml puts docs into the wheel
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:)([^)#]*)(#[^)]*)?\)")
_LINKED = re.compile(r"\[([^\]]*)\]\([^)]*\)")
_CHAPTER = re.compile(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", re.MULTILINE | re.DOTALL)
_BLOCK = re.compile(r"^```\w+ (\w+)\n(.*?)\n```$", re.MULTILINE | re.DOTALL)
HEAD, _, _STEPS = (_FOLDER.parent / "agents.md").read_text(encoding="utf-8").partition("\n## Check it\n")
VERIFY = f"## Check it\n{_STEPS}"
AGENTS_GUIDES = ("integration", "snippets", "cases", "verify", "errors")
_UNQUOTED = str.maketrans({"|": "/", "`": "'", "<": "(", ">": ")", "\\": "/"})


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
    is_picture = link[1]
    title = link[2]
    path = link[3]
    section = link[4] or ""
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


def agents_file(program: Program, *, base_url: str, code: str | None, framework: str | None = None) -> str:
    """Return AGENTS.md of a program, without a secret, with a partner's `code` and a framework's snippets first."""
    settings = program.settings
    unit = "%" if settings.commission_type == CommissionType.PERCENT else f" cents ({settings.currency}) a sale"
    values = filling(program, base_url=base_url, code=code)
    facts = {
        "id": program.id,
        "name": _cell(settings.name),
        "domain": _cell(settings.domain),
        "base_url": base_url,
        "rate": f"{shown_rate(settings.commission_type, settings.rate)}{unit}",
        "settings": settings,
    }
    head = HEAD.format_map(facts)
    chapters = {name: _demoted(filled(name, values)) for name in AGENTS_GUIDES}
    chapter = filled("payments", values).split("## Metadata of your checkout\n")[1].split("\n## ", maxsplit=1)[0]
    checkout = _demoted(f"# Metadata of your checkout, with a connected Stripe account\n{chapter}")
    if framework in FRAMEWORKS:
        name, wanted = FRAMEWORKS[framework]
        found = dict(_CHAPTER.findall(filled("snippets", values)))
        snippets = [f"### {each}\n{found[each]}".rstrip() for each in (*wanted, "Without JavaScript")]
        first = "\n\n".join([f"## Start here: {name}", *snippets]) + "\n"
        parts = [first, VERIFY, chapters["integration"], chapters["cases"], checkout]
    else:
        parts = [*chapters.values(), checkout]
    return re.sub(r"\]\((?:/docs/)?(?=[a-z][a-z#-]*\))", f"]({base_url}/docs/", "\n".join([head, *parts]))


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
