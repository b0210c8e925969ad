"""Engines: perform runs, with durable steps."""
