"""The tracking calls over HTTP on each database, as tests/tracking_api has them."""

from tests.tracking_api.conftest import api

__all__ = ["api"]
