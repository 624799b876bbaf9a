"""The webhooks of payment processors, one file for each provider."""
