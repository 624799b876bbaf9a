"""The integrator's half of `svc`: everything over HTTP, as any other client; it never opens storage."""
