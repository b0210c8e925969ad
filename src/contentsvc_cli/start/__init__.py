"""Commands for the first steps: setup, demo and preview."""
