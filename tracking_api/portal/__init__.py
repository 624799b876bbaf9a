"""The partners' portal: read routes.py first."""
