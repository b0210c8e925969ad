"""The REST API under ``/v1``."""
