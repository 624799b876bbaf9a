"""`svc doctor`: what is wrong with a shop's integration, as its pages and the service show it, each with its fix."""
