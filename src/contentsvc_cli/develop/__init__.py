"""Commands for development: recorded deliveries and histories of repositories."""
