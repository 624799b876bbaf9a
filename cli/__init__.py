"""The `svc` command: serve, demo and admin (the operator's, over storage)."""
