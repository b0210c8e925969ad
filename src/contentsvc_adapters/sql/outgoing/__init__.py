"""Outgoing webhooks in SQL: endpoints, the outbox, and the writing of messages."""
