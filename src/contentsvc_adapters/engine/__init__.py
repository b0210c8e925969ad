"""Engines: what works on runs."""
