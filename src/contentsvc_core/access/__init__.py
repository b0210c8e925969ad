"""Who may do what: API keys."""
