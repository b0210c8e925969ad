"""Commands for connections: repositories, triggers and targets of webhooks."""
