"""Output on a terminal: tables, progress, Markdown, shell completion."""
