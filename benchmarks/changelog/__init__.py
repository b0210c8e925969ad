"""A history to be told, and the programs that tell it: our changelog writer, as a call and as a command."""
