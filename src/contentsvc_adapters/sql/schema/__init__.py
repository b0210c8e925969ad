"""The tables. Points in time are milliseconds since the epoch, JSON is text that this package wrote.

The import of a module creates its tables. Their foreign keys name other tables, which need not exist until then.
"""
