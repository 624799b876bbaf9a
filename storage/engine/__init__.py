"""Connections, group commit, statements, paging, ids, sealing and the audit log: what all other folders use."""
