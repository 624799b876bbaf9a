"""An SDK as tests use it: those of tests/sdks/python hold for Node.js as well, with its own `sdk`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tests.failing import FailingService

KEY = "aff_1_secret"


@dataclass
class Sdk:
    """`sdk(**options)` makes a Track for the service; `logged` is what it has logged."""

    service: FailingService
    make: Callable[..., Any]
    logged: Callable[[], list[str]]

    def __call__(self, **options: Any) -> Any:
        return self.make(**{"base_url": self.service.base_url, "api_key": KEY, **options})
