"""What only a distributed database shows: nodes, shards, and what happens when one of them stops."""
