"""Who may do what: workspaces, members, sessions, keys, assistants, and stored answers to repeated requests."""
