"""Password hashing with argon2id and the argon2-cffi package's default parameters (RFC 9106), slow on purpose."""

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerifyMismatchError

_hasher = PasswordHasher()
SHORTEST = 8


def protect(password: str) -> str:
    """Return the hash to store."""
    return _hasher.hash(password)


def matches(stored: str, password: str) -> bool:
    """Say whether a password is the one behind a stored hash, in constant time."""
    try:
        return _hasher.verify(stored, password)
    except (VerifyMismatchError, InvalidHashError):
        return False
