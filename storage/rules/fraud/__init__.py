"""Signs of fraud: what the rules look at, what they find in it, and what a flag then holds."""
