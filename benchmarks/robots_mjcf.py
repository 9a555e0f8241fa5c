"""MJCF of the wheels gymnasium, dm_control and mujoco_warp: read here and by MuJoCo, q̈ compared.

Every file that MuJoCo compiles is read. At random states (positions, speeds, activations, controls)
q̈ of both, and the rates of activations, are compared, MuJoCo with its constraints disabled: what is
held softly there is held exactly here, and all other forces must agree. Files are read where pip
has put them; none is copied.
"""

from __future__ import annotations

import importlib.util
import re
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from liaison.equations import newton_euler
from liaison.errors import LiaisonError
from liaison.expr import collector_paused
from liaison.formats.mjcf.read import reading_of_mjcf
from liaison.model import Free, Mechanism, Memory
from liaison.model.values import floats
from liaison.program import to_numpy
from liaison.program.lower import lower
from liaison.tree import span

WHEELS = ("gymnasium", "dm_control", "mujoco_warp")
STATES = 100
TOLERANCE = 1e-9
"""Of q̈, relative to its largest entry, or to 1 where that is smaller."""
ROUNDED = 1e-6
"""Of masses, centres and moments: MuJoCo diagonalizes tensors to 1e-12, whatever their size, which
is 1e-7 of small ones; its masses of hulls differ by 4e-7 from ours, which are SciPy's to 1e-14."""

HEAD = re.compile(rb"<mujoco(\s[^>]*)?>")
NO_FRICTION = b'<option><flag frictionloss="disable"/></option>'
"""Dry friction is one of MuJoCo's constraints, and disabled there with them."""


def models() -> Iterator[tuple[Path, Path, Any]]:
    """(folder of the wheel, file, MuJoCo's model) of every file that MuJoCo compiles."""
    import mujoco

    for wheel in WHEELS:
        spec = importlib.util.find_spec(wheel)
        if spec is None or spec.origin is None:
            continue
        folder = Path(spec.origin).parent
        for path in sorted(folder.rglob("*.xml")):
            try:
                yield folder, path, mujoco.MjModel.from_xml_path(str(path))
            except Exception:
                continue


def without_constraints(mechanism: Mechanism) -> Mechanism:
    """The mechanism without what MuJoCo calls constraints: loops, relations, limits, friction."""
    carried: set[str] = set()
    joints = []
    for joint in mechanism.joints:
        if joint.successor.body not in carried and joint.successor.body != "ground":
            joints.append(joint)
            carried.add(joint.successor.body)
    return replace(
        mechanism,
        joints=tuple(joints),
        constraints=(),
        contacts=(),
        starts=(),
        outputs=(),
    )


class Pair:
    """A model in both programs."""

    def __init__(self, mechanism: Mechanism, model: Any) -> None:
        import mujoco

        self.mechanism = without_constraints(mechanism)
        with collector_paused():
            self.kernel = to_numpy(lower(newton_euler(span(self.mechanism))))
        self.model = model
        model.actuator_actearly[:] = 0  # activations as they are, not as they will be
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_CONSTRAINT)
        self.data = mujoco.MjData(model)
        self.inertia = self._same_inertia()
        self.labels = {k: [x.name for x in self.kernel.program.labels[k]] for k in "qvu"}
        moving = [x for x in self.mechanism.joints if x.type.nq]
        self.joints = list(zip(moving, range(model.njnt), strict=True))

    def _same_inertia(self) -> float:
        """The largest difference of masses, centres and tensors; MuJoCo gets ours.

        MuJoCo diagonalizes tensors down to entries of 1e-12 beside the diagonal, which is a part of
        1e-8 of those of small bodies.
        """
        import mujoco

        bodies = [x for x in self.mechanism.bodies[1:] if " after " not in x.name]
        worst = 0.0
        for k, body in enumerate(bodies, 1):
            mass, com = float(floats(body.mass, {})), floats(body.com, {})
            moments, axes = np.linalg.eigh(floats(body.inertia, {}))
            axes[:, 2] *= np.sign(np.linalg.det(axes))
            R = np.zeros(9)
            mujoco.mju_quat2Mat(R, self.model.body_iquat[k])
            R = R.reshape(3, 3)
            theirs = R @ np.diag(self.model.body_inertia[k]) @ R.T
            parts = (
                (mass - self.model.body_mass[k]) / max(mass, 1e-15),
                (com - self.model.body_ipos[k]) * (mass > 0),
                (floats(body.inertia, {}) - theirs) / max(moments[2], 1e-15),
            )
            own = max(float(np.max(np.abs(x))) for x in parts)
            worst = max(worst, own)
            if own < 1e-14:
                continue
            quat = np.zeros(4)
            mujoco.mju_mat2Quat(quat, axes.ravel())
            self.model.body_mass[k], self.model.body_ipos[k] = mass, com
            self.model.body_inertia[k], self.model.body_iquat[k] = moments, quat
        if worst > 1e-14:
            mujoco.mj_setConst(self.model, self.data)
        return worst

    def difference(self, rng: np.random.Generator) -> float:
        """The relative difference of q̈ at a random state."""
        import mujoco

        model, data = self.model, self.data
        q, v = np.zeros(len(self.labels["q"])), rng.uniform(-1, 1, len(self.labels["v"]))
        place = {k: {x: i for i, x in enumerate(self.labels[k])} for k in "qvu"}
        for joint, k in self.joints:
            at, n = model.jnt_qposadr[k], len(joint.coordinates)
            values = rng.uniform(-1, 1, n)
            if n in (4, 7):
                values[-4:] /= np.linalg.norm(values[-4:])
            q[[place["q"][x] for x in joint.coordinates]] = values
            shift = model.qpos0[at] if n == 1 else 0.0
            data.qpos[at : at + n] = values + shift
            speeds = v[[place["v"][x] for x in joint.speeds]]
            data.qvel[model.jnt_dofadr[k] :][: len(speeds)] = self._theirs(joint, values, speeds)
        u = rng.uniform(-1, 1, len(self.labels["u"]))
        self._control(u)
        states = self._activations(rng)
        v[[place["v"][x] for x in states]] = list(states.values())
        mujoco.mj_forward(model, data)
        accelerations = self.kernel("forward", q=q, v=v, u=u)[: len(v)]
        ours = np.zeros(model.nv)
        for joint, k in self.joints:
            a = accelerations[[place["v"][x] for x in joint.speeds]]
            values = q[[place["q"][x] for x in joint.coordinates]]
            speeds = v[[place["v"][x] for x in joint.speeds]]
            if isinstance(joint.type, Free):
                a = a.copy()
                a[3:] += np.cross(speeds[:3], speeds[3:])
            ours[model.jnt_dofadr[k] :][: len(a)] = self._theirs(joint, values, a)
        theirs = np.concatenate([data.qacc_smooth, data.act_dot])
        ours = np.concatenate([ours, accelerations[[place["v"][x] for x in states]]])
        return float(np.max(np.abs(ours - theirs)) / max(1.0, np.max(np.abs(theirs))))

    def _theirs(self, joint: Any, values: np.ndarray, speeds: np.ndarray) -> np.ndarray:
        """Speeds as MuJoCo has them: of a free body along the ground's axes, and before turning."""
        if not isinstance(joint.type, Free):
            return speeds
        R = np.array(joint.type.pose(values)[0], dtype=float)
        return np.concatenate((R @ speeds[3:], speeds[:3]))

    def _control(self, u: np.ndarray) -> None:
        """Controls; adhesion, which acts on bodies by contacts, stays off."""
        import mujoco

        on_body = int(mujoco.mjtTrn.mjTRN_BODY)
        ids = [k for k in range(self.model.nu) if self.model.actuator_trntype[k] != on_body]
        self.data.ctrl[ids] = u

    def _activations(self, rng: np.random.Generator) -> dict[str, float]:
        """States of actuators within their ranges, by label, in the order of MuJoCo's."""
        labels = [x.name for x in self.mechanism.forces if isinstance(x, Memory)]
        low, high = np.full(self.model.na, -1.0), np.full(self.model.na, 1.0)
        for k in np.flatnonzero(self.model.actuator_actlimited):
            at = self.model.actuator_actadr[k]
            low[at], high[at] = self.model.actuator_actrange[k]
        self.data.act[:] = rng.uniform(low, high)
        return dict(zip(labels, self.data.act.tolist(), strict=True))


def row_of(folder: Path, path: Path, model: Any, states: int = STATES) -> dict[str, Any]:
    """One file: whether it is read (`reading`), and how far its q̈ and its inertia differ."""
    row: dict[str, Any] = {"robot": str(path.relative_to(folder.parent)), "nv": int(model.nv)}
    begin = time.process_time()
    try:
        text = HEAD.sub(rb"\g<0>" + NO_FRICTION, path.read_bytes(), count=1)
        content = reading_of_mjcf(text, file=str(path), folder=folder)
    except LiaisonError as error:
        return row | {"status": "refused", "why": error.message}
    row |= {"bodies": len(content.mechanism.bodies) - 1, "notes": len(content.notes)}
    row["reading"] = content
    pair = Pair(content.mechanism, model) if model.nv else None
    cpu = time.process_time() - begin
    rng = np.random.default_rng(0)
    with np.errstate(all="ignore"):
        errors = [pair.difference(rng) for _ in range(states)] if pair else [0.0]
    error, inertia = float(np.max(errors)), pair.inertia if pair else 0.0
    is_equal = error < TOLERANCE and inertia < ROUNDED
    status = "equal" if is_equal else "differs"
    return row | {"status": status, "error": error, "inertia": inertia, "cpu": cpu}


def rows(states: int = STATES) -> Iterator[dict[str, Any]]:
    """Every file of the wheels that MuJoCo compiles."""
    for folder, path, model in models():
        yield {"format": "mjcf", **row_of(folder, path, model, states)}
