"""What an organization shows of its posts to everybody: its public changelog, as values and pure functions."""
