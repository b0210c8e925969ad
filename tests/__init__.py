"""A package by name, and not by being a folder: other projects' packages bring a ``tests`` of their own."""
