"""Writers of content."""
