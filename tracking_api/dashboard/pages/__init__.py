"""The dashboard's pages: server-rendered HTML over the same storage calls as the JSON API; routes.py is the index."""
