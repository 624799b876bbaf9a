"""Where the database decides, tests of folders that otherwise run on SQLite run on each: `both_databases`."""

import pytest

from tests.conftest import KINDS

both_databases = pytest.mark.parametrize("database_url", KINDS, indirect=True)
