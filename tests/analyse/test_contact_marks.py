"""Places of contact as formulas: their numbers along a run are those of `contact_points`."""

import numpy as np
import pytest

import liaison
from liaison.analyse.along.contact_marks import contact_marks
from liaison.analyse.along.contact_points import contact_points, parameters_had
from liaison.analyse.along.formula_contacts import formula_contacts
from liaison.expr import evaluate, symbol

CASES = {
    "contact/rattleback.lsd": 0.3,
    "contact/bearing.lsd": 0.2,
    "contact/stick_slip.lsd": 0.6,
    "contact/backlash.lsd": 0.3,
}
"""Example -> seconds: a rolling body, bearing friction, friction on a joint that is cut, gaps of
several joints."""


@pytest.mark.parametrize("name", CASES)
def test_formulas_are_what_is_evaluated_along_a_run(examples, name):
    mechanism = liaison.read(examples / name)
    run = liaison.simulate(mechanism, until=CASES[name], every=CASES[name] / 10)
    (labels,) = run.series["contacts"].axes.values()
    forces = dict(zip(labels, run.series["contacts"].values.T, strict=True))
    values = parameters_had(mechanism, run) | {symbol("t"): run.t}
    for part in ("q", "v"):
        columns = getattr(run, part).T
        values |= {symbol(x.name): y for x, y in zip(run.labels[part], columns, strict=True)}

    def numbers(formulas):
        columns = [np.broadcast_to(x, run.t.shape) for x in evaluate(list(formulas), values)]
        return np.stack(columns, axis=1)

    places = contact_points(mechanism, run) + formula_contacts(mechanism, run)
    marks = contact_marks(mechanism, labels)
    assert [x.name for x in marks] == [x.name for x in places]
    for mark, place in zip(marks, places, strict=True):
        np.testing.assert_allclose(numbers(mark.point), place.point, atol=1e-12)
        for k, expected in ((0, place.force), (1, place.moment)):
            total = sum(forces[x][:, None] * numbers(y[k]) for x, y in mark.rows.items())
            np.testing.assert_allclose(total, expected, atol=1e-9)
        assert mark.is_placed == getattr(place, "is_placed", True)


def test_friction_on_a_cut_joint_goes_with_its_body(examples):
    """The tree has a massless body there, without a pose: the mark stood still at the origin."""
    mechanism = liaison.read(examples / "contact/stick_slip.lsd")
    run = liaison.simulate(mechanism, until=0.5, every=0.1)
    (place,) = formula_contacts(mechanism, run)
    np.testing.assert_allclose(place.point[:, 0], run["X"], atol=1e-12)
    assert np.ptp(place.point[:, 0]) > 0.01
