"""What every HTTP surface shares: the error body, JSON in and out, request ids, lists. No routes, no storage."""
