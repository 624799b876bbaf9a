"""OAuth 2.1 for /mcp: an assistant that only knows the URL sends its user to sign in and consent."""
