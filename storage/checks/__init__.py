"""What `storage.checks.books` compares, one file for each kind of fact that is stored twice."""
