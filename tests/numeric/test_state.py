"""States: labels, copies, refusals."""

import pickle

import numpy as np
import pytest

from liaison.errors import NamingError, SimulationError
from liaison.numeric import State
from liaison.units import Label

LABELS = {
    "q": (Label("A", "rad"), Label("B", "m")),
    "v": (Label("A'", "rad/s"), Label("B'", "m/s")),
}


@pytest.fixture
def state():
    return State(0.5, np.array([1.0, 2.0]), np.array([3.0, 4.0]), LABELS)


def test_entries_are_read_by_label(state):
    assert [state[x] for x in ("A", "B", "A'", "B'")] == [1, 2, 3, 4]


def test_an_unknown_label_is_refused_with_a_proposal(state):
    with pytest.raises(NamingError, match=r"no coordinate or rate is named 'C'"):
        state["C"]


def test_a_change_is_a_copy(state):
    other = state.changed({"B": 7.0, "A'": 8.0}, t=1.0)
    assert other.q.tolist() == [1, 7]
    assert other.v.tolist() == [8, 4]
    assert other.t == 1.0
    assert state.q.tolist() == [1, 2]


def test_arrays_are_copied_and_cannot_be_written(state):
    given = np.zeros(2)
    kept = State(0, given, given)
    given[0] = 1
    assert kept.q[0] == 0
    with pytest.raises(ValueError, match="read-only"):
        state.q[0] = 1


def test_shapes_are_checked():
    with pytest.raises(SimulationError, match="shape"):
        State(0, np.zeros((2, 2)), np.zeros(2))
    with pytest.raises(SimulationError, match="do not fit 2 labels"):
        State(0, np.zeros(3), np.zeros(2), LABELS)


def test_a_state_shows_its_labels_and_travels(state):
    assert repr(state) == "State(t=0.5, A=1, B=2, A'=3, B'=4)"
    assert pickle.loads(pickle.dumps(state))["B'"] == 4
