"""What a user agent says of a visitor: device class, browser and operating system, by the patterns of ua-parser."""

from functools import lru_cache

from ua_parser import Domain
from ua_parser.loaders import load_lazy_builtins
from ua_parser.regex import Resolver

from storage.rules.reports.dimensions import Agent, clean

LONGEST = 512
_UNKNOWN = Agent()
_browsers, _systems, _ = load_lazy_builtins()
_resolver = Resolver((_browsers, _systems, []))  # its patterns for models of devices would double what it costs
_TV = ("smarttv", "smart-tv", "googletv", "appletv", "apple tv", "hbbtv", "bravia", "web0s", "webos.tv", "roku")
_DESKTOP = frozenset({"Windows", "Mac OS X", "Linux", "Ubuntu", "Fedora", "Debian", "Chrome OS", "FreeBSD", "OpenBSD"})
_ONE_NAME = {"Mac OS X": "macOS"}
_VARIANTS = frozenset({"Mobile", "iOS"})  # Chrome Mobile iOS is Chrome


@lru_cache(maxsize=4096)
def agent_of(user_agent: str | None) -> Agent:
    """Return what a user agent says; at most 512 characters of it are read, which takes about 30 us."""
    if not user_agent:
        return _UNKNOWN
    text = user_agent[:LONGEST]
    read = _resolver(text, Domain.USER_AGENT | Domain.OS)
    system = read.os.family if read.os else None
    browser = (
        " ".join(word for word in read.user_agent.family.split() if word not in _VARIANTS) if read.user_agent else ""
    )
    return Agent(
        _device(text.lower(), system), clean(browser), clean(_ONE_NAME.get(system, system)) if system else None
    )


def _device(text: str, system: str | None) -> str | None:
    """Return the class of a device. An iPad that asks for desktop sites is a desktop: it does not say more."""
    if any(word in text for word in _TV) or (system == "Android" and " tv" in text):
        device = "tv"
    elif "ipad" in text or "tablet" in text or (system == "Android" and "mobile" not in text):
        device = "tablet"
    elif "mobi" in text or "phone" in text:
        device = "mobile"
    elif system in _DESKTOP:
        device = "desktop"
    else:
        device = None
    return device
