"""Program keys, agent keys, tokens and click ids: their formats, how they are masked and hashed, and their rotation."""

import hashlib
import os
import secrets
from datetime import UTC, datetime
from enum import StrEnum

PROGRAM_PREFIX = "aff_"
AGENT_PREFIX = "agt_"
SESSION_PREFIX = "ses_"
CODE_PREFIX = "oac_"
ACCESS_PREFIX = "oat_"
REFRESH_PREFIX = "ort_"
RESET_PREFIX = "rst_"
SET_UP_PREFIX = "set_"
INVITATION_PREFIX = "inv_"
PORTAL_PREFIX = "por_"
UNTIL = "~"  # before the expiry in the click id of a referral
MASK = "••••"
SHORTEST_IMPORT = 16
_STAMP_DIGITS = 32
_MILLISECOND_DIGITS = 12
_RANDOM_BYTES = 10
_PROGRAM_DIGITS = 15


class Rotation(StrEnum):
    """Whether a program key works, works with warnings, or is rejected."""

    ACTIVE = "active"
    FLAGGED = "flagged"
    EXPIRED = "expired"


def generate(prefix: str) -> str:
    """Return a new secret: the prefix and 256 random bits in URL-safe characters."""
    return prefix + secrets.token_urlsafe(32)


def generate_program_key(program_id: int) -> str:
    """Return a new program key, `aff_<program>_<secret>`; the program in it only routes writes and is not trusted."""
    return generate(f"{PROGRAM_PREFIX}{program_id}_")


def key_program(secret: str) -> int | None:
    """Return the program that a program key names; None for older keys, which name none."""
    prefix, _, rest = secret.partition("_")
    program, separator, _ = rest.partition("_")
    named = f"{prefix}_" == PROGRAM_PREFIX and separator and program.isdecimal() and len(program) <= _PROGRAM_DIGITS
    return int(program) if named else None


def digest(secret: str) -> str:
    """Return the hex SHA-256 of a secret, which is what is stored: 256 random bits need no slower hash."""
    return hashlib.sha256(secret.encode()).hexdigest()


def mask(prefix: str, last4: str) -> str:
    """Return the masked key, such as `aff_••••x9Qz`: the only form that a read may show."""
    return f"{prefix}{MASK}{last4}"


def rotation_state(rotate_by: datetime | None, at: datetime) -> Rotation:
    """Return the state at the time `at` of a key whose rotation deadline is `rotate_by`."""
    if rotate_by is None:
        return Rotation.ACTIVE
    return Rotation.FLAGGED if at < rotate_by else Rotation.EXPIRED


def click_id(program_id: int, at: datetime, until: datetime | None = None) -> str:
    """Return a new click id: 48 bits of time, 80 random bits, and the program. Ids sort by time.

    That of a referral also has the time until which it can make a customer, in whole seconds.
    """
    expiry = f"{UNTIL}{int(until.timestamp()):x}" if until else ""
    return f"{first_click_id(at)}{os.urandom(_RANDOM_BYTES).hex()}-{program_id:x}{expiry}"


def first_click_id(at: datetime) -> str:
    """Return the prefix of all click ids of this time; earlier ids sort before it."""
    return f"{int(at.timestamp() * 1000):012x}"


def click_millis(click: str) -> int:
    """Return the time in a click id, in milliseconds since 1970 UTC."""
    return int(click[:_MILLISECOND_DIGITS], 16)


def click_prefix(millis: int) -> str:
    """Return the prefix of all click ids of this millisecond."""
    return f"{millis:0{_MILLISECOND_DIGITS}x}"


def click_until(click: str) -> datetime | None:
    """Return until when a referral's stored click can make a customer; None for any other click."""
    seconds = click.partition(UNTIL)[2]
    return datetime.fromtimestamp(int(seconds, 16), UTC) if seconds else None


def click_program(click: str) -> int | None:
    """Return the program that a click id names, or None if it is not a click id."""
    stamp, dash, rest = click.partition("-")
    program = rest.partition(UNTIL)[0]
    well_formed = len(stamp) == _STAMP_DIGITS and dash and 0 < len(program) <= _PROGRAM_DIGITS
    try:
        return int(program, 16) if well_formed else None
    except ValueError:
        return None
