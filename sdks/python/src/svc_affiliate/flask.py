"""Flask: `track().lead(...)` in a view; options in the dict `app.config["SVC_AFFILIATE"]`, else the environment."""

from flask import current_app, has_request_context, request

from svc_affiliate import Track

EXTENSION = "svc_affiliate"


def track() -> Track:
    """Return the application's Track, for the visitor of the current request where there is one."""
    if EXTENSION not in current_app.extensions:
        current_app.extensions[EXTENSION] = Track(**current_app.config.get("SVC_AFFILIATE", {}))
    shared: Track = current_app.extensions[EXTENSION]
    return shared.of(request.cookies if has_request_context() else {})
