"""A SQLite file that is removed or replaced while it is open: rejected at once, and served again once it is back."""

import os
import shutil
from pathlib import Path

import pytest
from sqlalchemy import Connection, insert, select

import storage
from storage import Storage
from storage.rules.errors import StorageUnavailable
from storage.tables import workspaces
from tests.world import NOW


def add(connection: Connection, name: str) -> str:
    connection.execute(insert(workspaces).values(name=name, created_at=NOW))
    return name


async def names(store: Storage) -> list[str]:
    query = select(workspaces.c.name).order_by(workspaces.c.id)
    return await store.read(lambda connection: list(connection.execute(query).scalars()))


@pytest.mark.parametrize("way", ["removed", "replaced"])
async def test_a_removed_or_replaced_file_gets_no_more_writes_or_reads(sqlite_url: str, tmp_path: Path, way: str):
    path, aside, copy = tmp_path / "svc.db", tmp_path / "aside.db", tmp_path / "copy.db"
    shutil.copy(path, copy)
    async with storage.opened(sqlite_url) as store:
        await store.write(add, "before")
        path.rename(aside)
        if way == "replaced":
            copy.rename(path)

        for _ in range(2):  # the second is a new connection
            with pytest.raises(StorageUnavailable):
                await store.write(add, "lost")
            with pytest.raises(StorageUnavailable):
                await names(store)

        assert not store.is_available
        assert path.exists() == (way == "replaced")
        os.replace(aside, path)  # noqa: PTH105 - over what is there
        await store.write(add, "after")
        assert await names(store) == ["before", "after"]
