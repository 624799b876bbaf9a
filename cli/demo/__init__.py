"""`svc demo`: a sample workspace with 90 days of events, made by the real operations."""
