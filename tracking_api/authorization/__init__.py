"""OAuth 2.1 in front of /mcp: assistants that know an address alone send their user to sign in and consent."""
