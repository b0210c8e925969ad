"""Authorization: API keys, sessions and rate limits."""
