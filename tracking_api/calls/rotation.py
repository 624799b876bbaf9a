"""Rotation signalling: headers (RFC 9745, RFC 8594) and the warning of a flagged program key."""

from collections.abc import Sequence
from datetime import datetime
from email.utils import format_datetime
from typing import Any, Literal

from presentation.view import View
from storage.access.program_keys import ProgramKey
from storage.rules.keys import Rotation, rotation_state
from tracking_api.calls.caller import TrackingCaller
from web.errors import CallWarning, RotationWarning
from web.response import JsonResponse

_MESSAGE = "This program key must be replaced before its deadline; calls with it are rejected from then on."
_HINT = "An owner regenerates it under Settings, Developers, API keys. The old key stops at once: deploy the new one."


class FlaggableView(View):
    """A successful response; `warnings` say that the key is flagged, or what to know about the call."""

    success: Literal[True]
    warnings: Sequence[RotationWarning | CallWarning] = ()


def signal(response: JsonResponse, key: ProgramKey, caller: TrackingCaller) -> None:
    """Add the rotation headers of a flagged or expired key to a response, and a warning before the deadline."""
    caller.scope["program_id"] = key.program_id
    if key.rotate_by is not None and key.flagged_at is not None:
        docs_url = f"{caller.services.settings.base_url}/docs/key-rotation"
        response.headers = {
            **response.headers,
            "Deprecation": f"@{int(key.flagged_at.timestamp())}",
            "Sunset": format_datetime(key.rotate_by, usegmt=True),
            "Link": f'<{docs_url}>; rel="deprecation", <{docs_url}>; rel="sunset"',
        }
        if rotation_state(key.rotate_by, caller.at) == Rotation.FLAGGED:
            response.warn(_warning(key.rotate_by, docs_url))


def _warning(rotate_by: datetime, docs_url: str) -> dict[str, Any]:
    return {
        "code": "api_key_rotation_required",
        "message": _MESSAGE,
        "hint": _HINT,
        "rotate_by": rotate_by,
        "docs_url": docs_url,
    }
