"""A regular package, because other projects install a ``tests`` package, too."""
