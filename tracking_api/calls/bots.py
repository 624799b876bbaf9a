"""Clicks that are stored but not counted: those of known bots and of prefetched pages."""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, takewhile

from crawleruseragents import CRAWLER_USER_AGENTS_DATA

# A server-side integration that forwards clicks sends the name of its HTTP library, which is not a crawler.
PATTERNS = [bot["pattern"] for bot in CRAWLER_USER_AGENTS_DATA if "http-library" not in bot.get("tags", ())]
_ANYTHING = r"[\s\S]*"
_CHOICE = re.compile(r"\[([A-Za-z]+)\]|(?<!\\)\(([^()\[\]\\]*)\)")  # [bB] or (Bot|SiteAudit)
_SPECIAL = re.compile(r"(?<!\\)[\[\](){}*+?|^$.]|\\[A-Za-z0-9]")


def reason_to_filter(user_agent: str | None, *, method: str, purpose: str | None) -> str | None:
    """Return `bot` or `prefetch` for a click that must not be counted, otherwise None.

    `purpose` is the Sec-Purpose, Purpose or X-Moz header.
    """
    if method == "HEAD" or (purpose is not None and "prefetch" in purpose.lower()):
        reason = "prefetch"
    elif user_agent and is_bot(user_agent):
        reason = "bot"
    else:
        reason = None
    return reason


@lru_cache(maxsize=4096)
def is_bot(user_agent: str) -> bool:
    """Say whether one of the package's patterns is found in a user agent, in at most 0.3 ms for 512 characters."""
    return bool(_TREE.search(user_agent) or _START.match(user_agent) or _REST.search(user_agent)) or any(
        _has_in_order(user_agent, parts) for parts in _SEQUENCES
    )


def _has_in_order(text: str, parts: list[str]) -> bool:
    """Say whether a text contains the parts one after the other; a regex would try each start of the first."""
    at = 0
    for part in parts:
        at = text.find(part, at) + len(part)
        if at < len(part):
            return False
    return True


def _spelled_out(pattern: str) -> Iterator[str]:
    """Yield a pattern for each of its choices."""
    choice = _CHOICE.search(pattern)
    if choice:
        for option in choice[1] or choice[2].split("|"):
            yield from _spelled_out(pattern[: choice.start()] + option + pattern[choice.end() :])
    elif "(" in pattern.replace(r"\(", ""):
        yield pattern
    else:
        yield from pattern.split("|")


def _tree(words: list[str]) -> str:
    """Return a regex of words in which words share their beginnings: each character is compared once, not per word."""
    alike = takewhile(lambda pair: pair[0] == pair[1], zip(min(words), max(words), strict=False))
    start = "".join(letter for letter, _ in alike)
    ends = sorted(word[len(start) :] for word in words)
    if "" in ends:
        return re.escape(start)
    branches = [_tree(list(group)) for _, group in groupby(ends, key=lambda end: end[0])]
    return f"{re.escape(start)}(?:{'|'.join(branches)})"


def _is_plain(pattern: str) -> bool:
    return _SPECIAL.search(pattern) is None


def _unescaped(pattern: str) -> str:
    return re.sub(r"\\(.)", r"\1", pattern)


_spelled = [each for pattern in PATTERNS for each in _spelled_out(pattern)]
_words = [_unescaped(each) for each in _spelled if _is_plain(each)]
_special = [each for each in _spelled if not _is_plain(each)]
_starts = [each for each in _special if each[0] == "^" and _is_plain(each[1:])]
_in_parts = [each for each in _special if _ANYTHING in each and all(map(_is_plain, each.split(_ANYTHING)))]
REST = [each for each in _special if each not in {*_starts, *_in_parts}]
_TREE = re.compile(_tree(_words))
_START = re.compile(_tree([_unescaped(each[1:]) for each in _starts]))
_SEQUENCES = [list(map(_unescaped, each.split(_ANYTHING))) for each in _in_parts]
_REST = re.compile("|".join(REST))
