"""M, bias, inverse and forward dynamics against Pinocchio, on robots from URDF."""

import numpy as np
import pytest
from robots import GRAVITY, Ours, text_of

pytestmark = pytest.mark.peers
pin = pytest.importorskip("pinocchio")

CASES = [("panda", False), ("ur5", False), ("talos", False), ("talos", True)]


class Theirs:
    """The same robot in Pinocchio, in our order: joints by name, angular before linear."""

    def __init__(self, ours: Ours) -> None:
        root = (pin.JointModelFreeFlyer(),) if ours.floating else ()
        self.model = pin.buildModelFromXML(text_of(ours.robot), *root)
        self.model.gravity.linear = np.array(GRAVITY)
        self.data = self.model.createData()
        self.ours = ours
        labels = ours.kernel.program.labels
        self.q_names = [label.name for label in labels["q"]]
        self.v_names = [label.name for label in labels["v"]]
        self.order = np.array([self.place(name) for name in self.v_names])

    def joint(self, name: str):
        return self.model.joints[self.model.getJointId(name)]

    def place(self, speed: str) -> int:
        """Where a velocity of ours stands in Pinocchio's v: it tells the linear ones first."""
        if speed.startswith("root."):
            return ["root.vx", "root.vy", "root.vz", "root.wx", "root.wy", "root.wz"].index(speed)
        return self.joint(speed.removesuffix("'")).idx_v

    def positions(self, q):
        """Our q in Pinocchio's order; its quaternions end with w, endless turns are cos and sin."""
        theirs = pin.neutral(self.model)
        for name, x in zip(self.q_names, q, strict=True):
            if name.startswith("root."):
                names = ["x", "y", "z", "qx", "qy", "qz", "qw"]
                theirs[names.index(name.removeprefix("root."))] = x
                continue
            joint = self.joint(name)
            turns = [np.cos(x), np.sin(x)] if joint.nq == 2 else [x]
            theirs[joint.idx_q : joint.idx_q + joint.nq] = turns
        return theirs

    def numbers(self, state):
        q, v, a = self.positions(state["q"]), np.zeros(self.model.nv), np.zeros(self.model.nv)
        v[self.order], a[self.order] = state["v"], state["vdot"]
        M = pin.crba(self.model, self.data, q)
        M = np.triu(M) + np.triu(M, 1).T
        return {
            "M": M[np.ix_(self.order, self.order)],
            "h": pin.rnea(self.model, self.data, q, v, 0 * a)[self.order],
            "inverse": pin.rnea(self.model, self.data, q, v, a)[self.order],
            "forward": pin.aba(self.model, self.data, q, v, 0 * a)[self.order],
        }


@pytest.mark.parametrize(("robot", "floating"), CASES)
def test_pinocchio_finds_the_same(robot, floating, compared):
    ours = Ours(robot, floating)
    theirs = Theirs(ours)
    assert sorted(theirs.order) == list(range(theirs.model.nv))
    compared("Pinocchio", ours, theirs)
