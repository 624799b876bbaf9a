"""What survives a bad day: a client with its own journal breaks the service's surroundings and then reads the books."""
