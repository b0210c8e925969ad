"""Search in a database: the core's words, in the full-text index of the database."""
