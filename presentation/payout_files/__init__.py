"""What of payouts leaves the service: the files with which money is sent, and partners' statements."""
