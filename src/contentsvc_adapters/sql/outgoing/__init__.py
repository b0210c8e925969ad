"""Webhooks out in SQL: endpoints, the outbox, and how what happens gets into it."""
