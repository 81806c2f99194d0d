"""What a log proves, and what it does not."""
