"""Random mechanisms whose steps cross tables, events, loops and contacts; all of them in attack."""

import pytest

from attack.crossing import KINDS, text_of, tried


@pytest.mark.parametrize("seed", range(len(KINDS)))
def test_every_event_is_found_and_states_are_right(seed):
    assert tried(seed) == "same"


def test_they_have_pulses_that_are_narrow():
    texts = [text_of(seed)[0] for seed in range(50)]
    assert all("event" in text for text in texts)
    assert sum("table(t" in text for text in texts) > 10
