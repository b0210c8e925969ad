"""Workflows that accepted events start: context records, triggers, runs."""
