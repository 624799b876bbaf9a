"""What the apps and their process have in common: their state, the clock, and how often garbage is collected."""

import gc
from datetime import UTC, datetime
from typing import Any, TypeVar

from starlette.applications import Starlette

App = TypeVar("App", bound=Starlette)


def with_state(app: App, **state: Any) -> App:
    """Return an app with what its endpoints use, and without redirects to the Host header that was sent."""
    app.router.redirect_slashes = False  # any other URL gets a 404
    for name, value in state.items():
        setattr(app.state, name, value)
    return app


def now() -> datetime:
    """Return the current time, aware, in UTC. A test passes its own clock."""
    return datetime.now(UTC)


def settle_garbage() -> None:
    """Exclude the objects of start-up from collection, and let it run after 50,000 new ones; the default is 700."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 100)
