"""What the environment decides about the tracking surface."""

from pathlib import Path
from typing import NamedTuple

from storage.engine import sealing
from storage.engine.sealing import Sealer


class TrackingSettings(NamedTuple):
    """`base_url` is where the world reaches the service; `redis_url` shares rate limits between processes.

    `secret_key` encrypts webhook secrets; None: one that is made in the working directory.
    A request's body must arrive within `body_seconds`. Rates are in the notation of the `limits` package
    ("120/minute"), for one address and one program (a sign-in: one account); None: no limit.
    """

    base_url: str = "http://127.0.0.1:8000"
    click_rate: str | None = "240/minute"
    lead_rate: str | None = "120/minute"
    login_rate: str | None = "10/15 minutes"
    redis_url: str | None = None
    secret_key: str | None = None
    body_seconds: float = 30.0

    def sealer(self) -> Sealer:
        """Return what encrypts webhook secrets and reads them."""
        return Sealer(self.secret_key or sealing.local_key(Path("svc.secret")))

    @property
    def rotation_docs_url(self) -> str:
        """Where a flagged key's holder reads what to do."""
        return f"{self.base_url}/docs/key-rotation"
