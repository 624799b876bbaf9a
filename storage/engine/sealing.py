"""Encrypts secrets that must be read again, such as webhook secrets, and signs, by a key outside the database."""

import hmac
import json
import os
import secrets
import tempfile
from base64 import urlsafe_b64encode
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from sqlalchemy import Column, Connection, select, update

PURPOSE = b"affiliate-tracking webhook secrets"


class UnreadableSecretError(Exception):
    """A secret was encrypted with another SVC_SECRET_KEY."""

    code = "secret_unreadable"
    hint = "Run `svc admin secrets rotate` with that key in SVC_SECRET_KEY_OLD."


class Sealer:
    """Encrypts with the newest of some keys, reads what any of them encrypted."""

    def __init__(self, *secret_keys: str) -> None:
        derived = (  # RFC 5869
            HKDF(algorithm=SHA256(), length=32, salt=None, info=PURPOSE).derive(key.encode()) for key in secret_keys
        )
        self._fernet = MultiFernet([Fernet(urlsafe_b64encode(key)) for key in derived])
        self._newest = secret_keys[0].encode()

    def sign(self, purpose: str, text: str) -> str:
        """Return a text's signature for a purpose, in hexadecimal digits: every process has the same."""
        key = hmac.digest(self._newest, purpose.encode(), "sha256")
        return hmac.digest(key, text.encode(), "sha256").hex()

    def has_signed(self, purpose: str, text: str, signature: str) -> bool:
        return hmac.compare_digest(signature.encode(), self.sign(purpose, text).encode())

    def seal(self, secret: str) -> str:
        return self._fernet.encrypt(secret.encode()).decode()

    def open(self, sealed: str) -> str:
        """Return a secret. Raises UnreadableSecretError."""
        try:
            return self._fernet.decrypt(sealed.encode()).decode()
        except InvalidToken:
            raise UnreadableSecretError("SVC_SECRET_KEY is not the one that encrypted this secret.") from None

    def seal_until(self, until: datetime, purpose: str, *values: Any) -> str:
        """Return values for a browser, which can neither read nor change them."""
        return self.seal(json.dumps([purpose, until.timestamp(), *values]))

    def open_until(self, at: datetime, purpose: str, sealed: str) -> list[Any] | None:
        """Return the values that were sealed for a purpose; None for anything else, and after their time."""
        try:
            values = json.loads(self.open(sealed))
        except (UnreadableSecretError, ValueError):
            return None
        is_ours = isinstance(values, list) and values[:1] == [purpose] and isinstance(values[1], float)
        return values[2:] if is_ours and values[1] > at.timestamp() else None

    def reseal(self, sealed: str) -> str:
        """Return a secret encrypted with the newest key. Raises UnreadableSecretError."""
        return self.seal(self.open(sealed))


def reseal(connection: Connection, sealer: Sealer, columns: Mapping[str, Column[Any]]) -> dict[str, int]:
    """Encrypt columns of secrets, one a line, with the newest key; count their rows. Raises UnreadableSecretError."""
    counts = {}
    for name, column in columns.items():
        key = column.table.primary_key.columns
        rows = connection.execute(select(*key, column).where(column.is_not(None))).all()
        for *named, sealed in rows:
            same = (each == value for each, value in zip((*key, column), (*named, sealed), strict=True))
            again = "\n".join(map(sealer.reseal, sealed.splitlines()))
            connection.execute(update(column.table).where(*same).values({column.name: again}))
        counts[name] = len(rows)
    return counts


def local_key(path: Path) -> str:
    """Return the key from a file that only its owner can read; the first process creates it atomically."""
    if not path.exists():
        with tempfile.NamedTemporaryFile("w", dir=path.parent, encoding="ascii") as file:  # its mode is 0600
            file.write(secrets.token_urlsafe(32))
            file.flush()
            with suppress(FileExistsError):
                os.link(file.name, path)
    return path.read_text(encoding="ascii")
