"""The machinery of the tests themselves: runs that do not disturb each other, and nothing skipped in CI."""

import asyncpg


async def test_postgresql_keeps_its_files_outside_the_folder_that_every_run_of_pytest_closes(postgres_server: str):
    connection = await asyncpg.connect(postgres_server.replace("+asyncpg", ""))
    folder = await connection.fetchval("SHOW data_directory")
    await connection.close()

    assert "/pytest-of-" not in folder
