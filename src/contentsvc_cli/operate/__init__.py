"""Commands for the operation of the service."""
