"""Settings every test shares."""

from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, settings

from trajscope.store import derive

# A shared or loaded machine must not decide whether a law holds: no deadline per example, and
# slow drawing (the first use of text builds tables for a second) is no failure.
settings.register_profile("trajscope", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("trajscope")


@pytest.fixture(autouse=True, scope="session")
def _set_wise() -> Iterator[None]:
    """Have the set-wise statements derive the small stores of tests, as they do large ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(derive, "FEW_SPANS", 0)
        yield
