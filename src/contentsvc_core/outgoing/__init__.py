"""Outgoing webhooks: events, endpoints, messages, signatures and retries."""
