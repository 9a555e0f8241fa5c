"""M and bias of models in MJCF against MuJoCo, which wrote the language."""

from dataclasses import replace

import numpy as np
import pytest

import liaison
from liaison.equations import newton_euler
from liaison.expr import collector_paused
from liaison.formats import read_mjcf
from liaison.model import Free, Gravity, Start
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import span
from samples.mjcf_texts import ARM, FIXED_AXES, FULL

pytestmark = pytest.mark.peers
mujoco = pytest.importorskip("mujoco")
TOLERANCE = 1e-12
"""Both sides compute with the same 17 digits; MuJoCo diagonalizes inertias once more."""


class Pair:
    """A model in both programs; MuJoCo's speeds are T times ours."""

    def __init__(self, text: str) -> None:
        found = read_mjcf(text)
        gravity = tuple(f for f in found.forces if isinstance(f, Gravity))
        self.mechanism = replace(found, forces=gravity, constraints=(), starts=())
        with collector_paused():
            self.kernel = to_numpy(lower(newton_euler(span(self.mechanism))))
        self.model = mujoco.MjModel.from_xml_string(text)
        self.model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(self.model)
        self.labels = {k: [x.name for x in self.kernel.program.labels[k]] for k in "qv"}

    def state(self, rng) -> tuple[dict[str, float], np.ndarray]:
        q = {x: float(rng.uniform(-1, 1)) for x in self.labels["q"]}
        for name in [x for x in q if x.endswith(".qw")]:
            parts = [name[:-1] + k for k in "wxyz"]
            size = np.linalg.norm([q[x] for x in parts])
            q |= {x: q[x] / size for x in parts}
        return q, rng.uniform(-1, 1, len(self.labels["v"]))

    def change(self, q: dict[str, float]) -> np.ndarray:
        """T, and MuJoCo's position."""
        T = np.zeros((self.model.nv, len(self.labels["v"])))
        for joint in (j for j in self.mechanism.joints if j.type.nq):
            theirs = self.model.joint(joint.name)
            at, row = int(theirs.qposadr[0]), int(theirs.dofadr[0])
            values = [q[x] for x in joint.coordinates]
            self.data.qpos[at : at + len(values)] = values
            columns = [self.labels["v"].index(x) for x in joint.speeds]
            if isinstance(joint.type, Free):
                T[row : row + 3, columns[3:]] = np.array(joint.type.pose(values)[0], dtype=float)
                T[row + 3 : row + 6, columns[:3]] = np.eye(3)
            else:
                T[np.arange(row, row + len(columns)), columns] = 1
        return T


@pytest.mark.parametrize("text", [ARM, FIXED_AXES, FULL], ids=["arm", "fixed axes", "full inertia"])
def test_mujoco_finds_the_same_mass_matrix_and_bias(text):
    pair, rng = Pair(text), np.random.default_rng(0)
    tied = [i for i, x in enumerate(pair.labels["v"]) if not x.startswith("free.")]
    for _ in range(20):
        q, v = pair.state(rng)
        T = pair.change(q)
        pair.data.qvel[:] = T @ v
        mujoco.mj_forward(pair.model, pair.data)
        M = np.zeros((pair.model.nv, pair.model.nv))
        mujoco.mj_fullM(pair.model, pair.data, M)
        theirs, h = T.T @ M @ T, T.T @ pair.data.qfrc_bias
        at = {"q": np.array([q[x] for x in pair.labels["q"]]), "v": v}
        ours = pair.kernel("mass_matrix", **at).reshape(len(v), -1)
        assert np.max(np.abs(ours - theirs)) < TOLERANCE * np.max(np.abs(theirs))
        # a free body's bias is told along other speeds, which turn with it
        assert np.max(np.abs(pair.kernel("bias", **at) - h)[tied]) < TOLERANCE * np.max(np.abs(h))


HINGE = (
    '<mujoco>{more}<worldbody><body><joint name="j" axis="0 1 0" {joint}/>'
    '<geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02"/>'
    '<geom type="sphere" pos="0.3 0 0" size="0.1" group="3"/></body></worldbody></mujoco>'
)
SETTINGS = {
    "armature": ('armature="0.5"', ""),
    "damping, spring, ref": ('damping="0.1" stiffness="2" springref="20" ref="5"', ""),
    "groups": ("", '<compiler inertiagrouprange="0 2"/>'),
    "no gravity": ('stiffness="2"', '<option><flag gravity="disable"/></option>'),
    "no damper": ('damping="2"', '<option><flag damper="disable"/></option>'),
    "no spring": ('stiffness="2" springref="9"', '<option><flag spring="disable"/></option>'),
}


@pytest.mark.parametrize("setting", SETTINGS)
def test_mujoco_finds_the_same_acceleration(setting):
    joint, more = SETTINGS[setting]
    text = HINGE.format(joint=joint, more=more)
    model = mujoco.MjModel.from_xml_string(text)
    data = mujoco.MjData(model)
    data.qvel[:] = 0.7
    mujoco.mj_forward(model, data)
    ours = read_mjcf(text)
    ours = replace(ours, starts=(*ours.starts, Start("j'", 0.7)))
    at = [x.name for x in span(ours).velocity_labels()].index("j'")
    assert liaison.forward_dynamics(ours)[at] == pytest.approx(data.qacc[0], rel=1e-11)
