"""Formats of customer keys, and the lead's key that a mismatched key likely stands for."""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NamedTuple

_PATTERNS = {
    "uuid": re.compile(r"[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE),
    "integer": re.compile(r"[0-9]+"),
    "email": re.compile(r"[^\s@]+@[^\s@]+\.[^\s@]+"),
    "processor_id": re.compile(r"(cus|sub|pi|ch|in|si|pm|cs|acct|py|txn)_[A-Za-z0-9_]{2,}"),
    "prefixed": re.compile(r"[A-Za-z]+[-_:|/.][A-Za-z0-9][A-Za-z0-9-]*"),
}
_PREFIX = re.compile(r"[A-Za-z]+[-_:|/.]")


class KeyFormat(StrEnum):
    """The format of an identifier."""

    UUID = "uuid"
    INTEGER = "integer"
    EMAIL = "email"
    PROCESSOR_ID = "processor_id"
    PREFIXED = "prefixed"
    OTHER = "other"


DISTINCT = (KeyFormat.UUID, KeyFormat.INTEGER, KeyFormat.EMAIL, KeyFormat.PROCESSOR_ID)


class Difference(StrEnum):
    """How an unmatched key differs from the keys of the leads."""

    LETTER_CASE = "letter_case"
    PREFIX = "prefix"
    SHAPE = "shape"


class Mismatch(NamedTuple):
    """Why a key matches no lead; `meant` is the lead's key that it likely stands for, if there is one."""

    difference: Difference
    shape: KeyFormat
    meant: str | None


class LeadKeys:
    """The keys of a program's leads, indexed to find the one that another key likely stands for."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._exact: dict[str, None] = dict.fromkeys(keys)
        self._by_case = {_folded(key): key for key in self._exact}
        self._by_core = {_core(key): key for key in self._exact}
        self._prefixes = {_prefix(key) for key in self._exact}
        self.shapes = {format_of(key) for key in self._exact}

    def mismatch(self, key: str) -> Mismatch | None:
        """Return how a key without a lead differs from leads' keys; None if its customer probably has no partner."""
        shape = format_of(key)
        is_distinct = shape in DISTINCT or self.shapes <= set(DISTINCT)
        if (same_letters := self._by_case.get(_folded(key))) is not None:
            result: Mismatch | None = Mismatch(Difference.LETTER_CASE, shape, same_letters)
        elif _core(key) in self._by_core and (shape == KeyFormat.UUID or _prefix(key) not in self._prefixes):
            result = Mismatch(Difference.PREFIX, shape, self._by_core[_core(key)])
        else:
            is_foreign = self.shapes and shape not in self.shapes and is_distinct
            result = Mismatch(Difference.SHAPE, shape, None) if is_foreign else None
        return result


def format_of(key: str) -> KeyFormat:
    """Return the format of an identifier."""
    matching = (name for name, pattern in _PATTERNS.items() if pattern.fullmatch(key.strip()))
    return KeyFormat(next(matching, KeyFormat.OTHER))


def _folded(key: str) -> str:
    return key.strip().casefold().replace("_", "-")


def _prefix(key: str) -> str:
    result = None if format_of(key) == KeyFormat.UUID else _PREFIX.match(key.strip())
    return result.group().casefold() if result else ""


def _core(key: str) -> str:
    """Return a key without its prefix (`user_17` is 17), and a UUID also without its dashes."""
    core = key.strip().casefold().removeprefix(_prefix(key))
    return core.replace("-", "") if format_of(core) == KeyFormat.UUID else core
