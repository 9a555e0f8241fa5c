"""What the comparisons of this folder share."""

import pytest

TOLERANCE = 1e-9


@pytest.fixture
def worst(record_property):
    """Records a difference for the last lines of the run, and fails if it is too large."""

    def check(difference: float) -> None:
        record_property("worst difference of body accelerations", difference)
        assert difference <= TOLERANCE

    return check
