"""Passwords: which ones are accepted, and their hashes with argon2id, slow on purpose."""

import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

from storage.rules.errors import ValidationError

SHORTEST, LONGEST = 10, 512
LONGEST_ESTIMATE = 72  # the most that zxcvbn takes
WEAKEST_SCORE = 2  # of 0 to 4: fewer than a million guesses find a weaker one
# OWASP's first choice (docs/decisions/0021-sign-in.md). A hash carries its own, so earlier ones keep working.
_hasher = PasswordHasher(time_cost=2, memory_cost=19 * 1024, parallelism=1)


def protect(password: str) -> str:
    """Return the hash to store."""
    return _hasher.hash(password)


def protect_new(password: str, *, email: str, field: str = "password") -> str:
    """Return a new password's hash. Raises ValidationError, naming the field, if it is short or soon guessed."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise ValidationError.of(field, f"Use {SHORTEST} to {LONGEST} characters")
    from zxcvbn import zxcvbn  # noqa: PLC0415 - its lists of words take 12 MB of a process, and few check a password

    if zxcvbn(password[:LONGEST_ESTIMATE], user_inputs=[email, *email.split("@")])["score"] < WEAKEST_SCORE:
        raise ValidationError.of(field, "This password is common or easy to guess: add more words")
    return protect(password)


@cache
def _unused() -> str:
    return protect(secrets.token_urlsafe(32))


def is_outdated(stored: str) -> bool:
    """Return whether a stored hash has other parameters than a new one would have."""
    return _hasher.check_needs_rehash(stored)


def matches(stored: str | None, password: str) -> bool:
    """Return whether a password is the one behind a stored hash; without one it takes the same time."""
    try:
        return _hasher.verify(stored or _unused(), password)
    except (VerifyMismatchError, InvalidHashError):
        return False
