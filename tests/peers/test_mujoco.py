"""M, bias, inverse and forward dynamics against MuJoCo, on robots from URDF."""

import numpy as np
import pytest
from robots import GRAVITY, Ours, text_of

pytestmark = pytest.mark.peers
mujoco = pytest.importorskip("mujoco")


class Theirs:
    """The same robot in MuJoCo, in our order; no friction, no limits, no contacts."""

    def __init__(self, ours: Ours) -> None:
        self.model = mujoco.MjModel.from_xml_string(text_of(ours.robot))
        self.model.opt.gravity[:] = GRAVITY
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.model.dof_damping[:] = 0
        self.model.dof_frictionloss[:] = 0
        self.model.dof_armature[:] = 0
        self.data = mujoco.MjData(self.model)
        names = [label.name for label in ours.kernel.program.labels["v"]]
        joints = [self.model.joint(name.removesuffix("'")) for name in names]
        self.q_order = np.array([int(joint.qposadr[0]) for joint in joints])
        self.order = np.array([int(joint.dofadr[0]) for joint in joints])

    def numbers(self, state):
        model, data = self.model, self.data
        data.qpos[self.q_order] = state["q"]
        data.qvel[self.order] = state["v"]
        mujoco.mj_forward(model, data)
        forward = data.qacc[self.order].copy()
        M = np.zeros((model.nv, model.nv))
        mujoco.mj_fullM(model, data, M)
        h = data.qfrc_bias[self.order].copy()
        data.qacc[self.order] = state["vdot"]
        mujoco.mj_inverse(model, data)
        return {
            "M": M[np.ix_(self.order, self.order)],
            "h": h,
            "inverse": data.qfrc_inverse[self.order].copy(),
            "forward": forward,
        }


@pytest.mark.parametrize("robot", ["panda", "ur5", "talos"])
def test_mujoco_finds_the_same(robot, compared):
    ours = Ours(robot)
    theirs = Theirs(ours)
    assert sorted(theirs.order) == list(range(theirs.model.nv))
    compared("MuJoCo", ours, theirs)
