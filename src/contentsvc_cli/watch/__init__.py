"""Commands that show what happens: the log, runs and context records."""
