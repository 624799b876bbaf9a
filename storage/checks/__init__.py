"""What `storage.check` compares, one file for each kind of fact that is stored twice."""
