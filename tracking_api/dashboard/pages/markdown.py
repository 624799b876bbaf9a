"""Guides as HTML: sections that can be linked to, code that can be copied, tables that can be scrolled."""

import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

from markdown_it import MarkdownIt
from markdown_it.renderer import RendererHTML
from markdown_it.token import Token
from markupsafe import Markup

_SEPARATORS = re.compile(r"[^a-z0-9]+")


class RenderedGuide(NamedTuple):
    """A guide's HTML, and its main sections: the id and the title of each."""

    html: Markup
    sections: list[tuple[str, str]]


class _Renderer(RendererHTML):
    """CommonMark's HTML, with a link beside each section and a button beside each block of code."""

    def heading_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:
        """End a heading with the link to its section."""
        opening = tokens[idx - 2]
        link = Markup('<a class="anchor" href="#{}" aria-label="Link to {}">#</a>')
        written = link.format(opening.attrGet("id"), tokens[idx - 1].content) if opening.attrGet("id") else ""
        return f"{written}{self.renderToken(tokens, idx, options, env)}"

    def fence(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002 - the signature
        """Write a block of code that the button copies."""
        block = Markup(
            '<div class="code"><pre id="code-{0}" tabindex="0" aria-label="Code {0}"><code>{1}</code></pre>'
            '<button type="button" class="copy">Copy<span class="unseen"> code {0}</span></button>'
            "</div>\n"
        )
        env["blocks"] = env.get("blocks", 0) + 1
        return block.format(env["blocks"], tokens[idx].content)

    code_block = fence

    def table_open(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002
        """Begin a table in a part that can be scrolled with the keyboard."""
        return '<div class="scroll" tabindex="0"><table>'

    def table_close(self, tokens: Sequence[Token], idx: int, options: Any, env: Any) -> str:  # noqa: ARG002
        """End the table and the part around it."""
        return "</table></div>"


@lru_cache(maxsize=64)
def rendered(text: str) -> RenderedGuide:
    """Return Markdown as HTML. HTML in its text is escaped."""
    markdown = MarkdownIt("commonmark", {"html": False}, renderer_cls=_Renderer).enable("table")
    env: dict[str, Any] = {}
    tokens = markdown.parse(text, env)
    sections = []
    for opening, content in pairwise(tokens):
        if opening.type == "heading_open" and opening.tag in {"h2", "h3"}:
            name = _SEPARATORS.sub("-", content.content.lower()).strip("-")
            title = "".join(child.content for child in content.children or [])
            opening.attrSet("id", name)
            if opening.tag == "h2":
                sections.append((name, title))
    return RenderedGuide(Markup(markdown.renderer.render(tokens, markdown.options, env)), sections)  # noqa: S704 - html is off
