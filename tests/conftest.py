"""Settings every test shares."""

from hypothesis import HealthCheck, settings

# A shared or loaded machine must not decide whether a law holds: no deadline per example, and
# slow drawing (the first use of text builds tables for a second) is no failure.
settings.register_profile("trajscope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trajscope")
