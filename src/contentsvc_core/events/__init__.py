"""Normalized events of code hosts: their fields, their wire forms, and their summaries."""
