"""Searching in a database: the words that the core gives, in the index that the database has for words."""
