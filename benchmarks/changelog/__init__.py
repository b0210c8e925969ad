"""A generated history, and our changelog writer as a call and as a command."""
