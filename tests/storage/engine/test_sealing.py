"""Sealed secrets: unreadable without their key, and read by both keys while one replaces the other."""

from pathlib import Path

import pytest

from storage.engine import sealing
from storage.engine.sealing import Sealer, UnreadableSecretError


def test_a_secret_can_be_read_only_with_its_key():
    sealed = Sealer("one").seal("whsec_1")

    assert "whsec_1" not in sealed
    assert Sealer("one").open(sealed) == "whsec_1"
    with pytest.raises(UnreadableSecretError):
        Sealer("two").open(sealed)


def test_a_secret_moves_to_a_new_key():
    moved = Sealer("new", "old").reseal(Sealer("old").seal("whsec_1"))

    assert Sealer("new").open(moved) == "whsec_1"


def test_a_local_key_is_created_once_and_is_private_to_its_owner(tmp_path: Path):
    path = tmp_path / "svc.secret"

    first, second = sealing.local_key(path), sealing.local_key(path)

    assert first == second
    assert len(first) >= 32
    assert path.stat().st_mode & 0o777 == 0o600
    assert list(tmp_path.iterdir()) == [path]
