"""The other sides of the comparison, and their checks. A peer's folder is a program of its own, not a package."""
