"""The tests of this folder run on SQLite, and on each database where one decides: `both_databases`."""

from tests.storage.databases import database_url

__all__ = ["database_url"]
