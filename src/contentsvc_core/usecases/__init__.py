"""What the service does, each use case over the ports that it needs."""
