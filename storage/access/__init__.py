"""Access control: workspaces, members, sessions, keys, assistants, and stored responses to repeated requests."""
