"""What holds for Python's SDK holds for Node's, which has an `sdk` of its own here."""

from tests.sdks.python.test_outages import *  # noqa: F403 - every test of the module, once more
from tests.sdks.python.test_outbox import *  # noqa: F403
from tests.sdks.python.test_track import *  # noqa: F403
