"""Loaders: they send deliveries as fast as they are answered, or at a fixed rate."""
