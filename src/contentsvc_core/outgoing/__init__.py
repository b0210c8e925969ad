"""Webhooks out: events, endpoints, messages, signatures and retries."""
