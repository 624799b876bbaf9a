"""The files that are written from the code say what the code says."""

import pytest

from tests.generated import FILES, ROOT


@pytest.mark.parametrize("name", FILES)
def test_a_generated_file_is_up_to_date(name: str):
    assert (ROOT / name).read_text(encoding="utf-8") == FILES[name](), "run `make generated`"
