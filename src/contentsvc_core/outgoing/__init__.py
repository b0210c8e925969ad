"""Webhooks out: what organizations are told of, where, signed how, and tried how often."""
