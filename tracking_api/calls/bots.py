"""Clicks that are stored but not counted: those of known bots and of prefetched pages."""

from functools import lru_cache

import re2
from crawleruseragents import CRAWLER_USER_AGENTS_DATA

# A server-side integration that forwards clicks sends the name of its HTTP library, which is not a crawler.
PATTERNS = [bot["pattern"] for bot in CRAWLER_USER_AGENTS_DATA if "http-library" not in bot.get("tags", ())]
MEMORY = 32 << 20  # for what re2 remembers of user agents; half of it makes hostile ones twice as expensive


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
    """Say whether one of the package's patterns is found in a user agent; re2 reads each character once."""
    return bool(_patterns.Match(user_agent.encode(errors="replace")))  # a lone surrogate has no UTF-8


def _compiled() -> re2.Set:
    options = re2.Options()
    options.max_mem = MEMORY
    patterns = re2.Set.SearchSet(options)
    for pattern in PATTERNS:
        patterns.Add(pattern)
    patterns.Compile()
    return patterns


_patterns = _compiled()
