"""The `svc` command: serve, demo, admin for operators, and the integrators' commands."""
