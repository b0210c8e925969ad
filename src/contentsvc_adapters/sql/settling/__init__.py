"""The write path of deliveries: waiting settlements share one transaction (group commit)."""
