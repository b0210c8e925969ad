"""The use cases of the service, each over the ports that it needs."""
