"""What members and agents change: a program's settings, its partners, and the status of commissions."""
