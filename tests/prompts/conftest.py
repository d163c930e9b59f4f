"""Hypothesis without a clock: what is slow on a busy machine is not wrong."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "prompts", deadline=None, suppress_health_check=[HealthCheck.too_slow], print_blob=True
)
settings.load_profile("prompts")
