"""Why something was or was not credited: explanations, readiness and identifier health."""
