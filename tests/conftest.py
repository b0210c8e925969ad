"""What holds for every test."""

from hypothesis import HealthCheck, settings

# How long an example takes says something about the machine, and nothing about the code.
settings.register_profile("contentsvc", deadline=None, print_blob=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("contentsvc")
