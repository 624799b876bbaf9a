"""`svc demo`: a sample workspace with 90 days of events, recorded by the real operations."""
