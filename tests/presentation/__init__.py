"""What the surfaces publish alike: the files of payouts and the statements of partners."""
