"""The read-only MCP server of assistants, at /mcp."""
