"""What payment processors send: each provider's webhook in a file of its own."""
