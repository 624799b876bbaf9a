"""The `.sql` files: a person can run them in psql, and an INSERT names its columns in the order of its rows."""

import re

import pytest
from sqlalchemy import Connection, text

import storage
from storage.engine.statements import FOLDER, Statement

NAMES = sorted(path.stem for path in FOLDER.glob("*.sql"))


@pytest.mark.not_on_citus("a cluster runs each statement for one program at a time")
async def test_each_file_is_postgresql_as_it_stands(postgres_url: str):
    def run_all(connection: Connection) -> int:
        for name in NAMES:
            connection.execute(text((FOLDER / f"{name}.sql").read_text(encoding="utf-8")), {"rows": "[]"})
        return len(NAMES)

    async with storage.opened(postgres_url) as store:
        assert await store.write(run_all) > 15


@pytest.mark.parametrize("name", [name for name in NAMES if name.endswith(("_insert", "_add", "_save"))])
def test_an_insert_names_its_columns_in_the_order_of_its_rows(name: str):
    statement = Statement(name)

    named = re.search(r"INSERT INTO \w+ \(([^)]*)\)", statement.text)

    assert named is not None
    assert [each.strip() for each in named[1].split(",")] == list(statement.columns)
