"""The integrators' commands of `svc`; they call the service over HTTP and never open storage."""
