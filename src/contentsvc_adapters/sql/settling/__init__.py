"""The write path of deliveries: what waits at the same time is written in one transaction (group commit)."""
