"""Derivatives of inverse and forward dynamics against Pinocchio's analytical ones."""

import numpy as np
import pytest
from robots import Ours
from test_pinocchio import Theirs

pytestmark = pytest.mark.peers
pin = pytest.importorskip("pinocchio")

STATES = 5
TOLERANCE = 1e-9  # relative to the largest entry, as for the dynamics themselves


@pytest.mark.parametrize(("robot", "floating"), [("panda", False), ("ur5", False), ("talos", True)])
def test_pinocchio_finds_the_same_derivatives(robot, floating):
    ours = Ours(robot, floating)
    theirs = Theirs(ours)
    model, data, order = theirs.model, theirs.data, theirs.order
    at = np.ix_(order, order)
    n = len(order)
    for state in ours.states()[:STATES]:
        q, v, a = theirs.positions(state["q"]), np.zeros(n), np.zeros(n)
        v[order], a[order] = state["v"], state["vdot"]
        found = ours.kernel.call("d_inverse", q=state["q"], v=state["v"], x=state["vdot"])
        found |= ours.kernel.call("d_forward", q=state["q"], v=state["v"])
        pin.computeRNEADerivatives(model, data, q, v, a)
        expected = {"tau_q": data.dtau_dq.copy(), "tau_v": data.dtau_dv.copy()}
        pin.computeABADerivatives(model, data, q, v, 0 * a)
        upper = np.triu(data.Minv)
        expected |= {"vdot_q": data.ddq_dq, "vdot_v": data.ddq_dv}
        expected |= {"vdot_tau": upper + np.triu(upper, 1).T}
        for name, matrix in expected.items():
            scale = np.abs(matrix).max()
            assert np.abs(found[name].reshape(n, n) - matrix[at]).max() <= TOLERANCE * scale, name
