"""Long tests, which `make` starts by name; the second tier runs short ones."""
