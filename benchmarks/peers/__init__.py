"""The other sides of the comparison, and what checks them; a peer's folder is a program of its own, no package."""
