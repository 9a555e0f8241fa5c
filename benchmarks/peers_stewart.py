"""The Stewart platform of the examples (6-UPS) in Pinocchio and MuJoCo."""

from __future__ import annotations

import math

import numpy as np
from peers_fast import mujoco_forward

FEET = [-10, 10, 110, 130, 230, 250]  # [deg]
HEADS = [-50, 50, 70, 170, 190, 290]
STIFFNESS = 2000.0


def places() -> list[tuple[np.ndarray, np.ndarray, np.ndarray, float]]:
    """Foot, head on the plate, start of (x, y, slide), length: leg by leg."""
    found = []
    for foot, head in zip(np.radians(FEET), np.radians(HEADS), strict=True):
        below = 0.5 * np.array([math.cos(foot), math.sin(foot), 0])
        above = 0.3 * np.array([math.cos(head), math.sin(head), 0])
        leg = above + np.array([0, 0, 0.6]) - below
        length = float(np.linalg.norm(leg))
        start = np.array([math.atan2(-leg[1], leg[2]), math.asin(leg[0] / length), length])
        found.append((below, above, start, length))
    return found


def pinocchio_stewart(mass: float, com, inertia):
    """The model, its closures, and where it starts: at rest, springs unstretched."""
    import pinocchio as pin

    model, here = pin.Model(), pin.SE3.Identity()
    cylinder = pin.Inertia(1.0, np.array([0, 0, 0.15]), np.diag([8e-3, 8e-3, 3e-4]))
    rod = pin.Inertia(0.5, np.array([0, 0, -0.15]), np.diag([4e-3, 4e-3, 5e-5]))
    slides, heads, start = [], [], []
    for i, (foot, head, at, _) in enumerate(places()):
        x = model.addJoint(0, pin.JointModelRX(), pin.SE3(np.eye(3), foot), f"x{i}")
        y = model.addJoint(x, pin.JointModelRY(), here, f"y{i}")
        model.appendBodyToJoint(y, cylinder, here)
        slides.append(model.addJoint(y, pin.JointModelPZ(), here, f"P{i}"))
        model.appendBodyToJoint(slides[-1], rod, here)
        heads.append(pin.SE3(np.eye(3), head))
        start.append(at)
    plate = model.addJoint(0, pin.JointModelFreeFlyer(), here, "plate")
    model.appendBodyToJoint(plate, pin.Inertia(mass, com, inertia), here)
    ties = [
        pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, slide, here, plate, head)
        for slide, head in zip(slides, heads, strict=True)
    ]
    return model, ties, np.concatenate([*start, [0, 0, 0.6, 0, 0, 0, 1]])


def mujoco_stewart(mass: float, com, inertia, calls: int) -> tuple[float, float]:
    """Seconds of mj_forward from Python, and the acceleration of the first slide."""
    import mujoco

    legs, ties, sites = "", "", ""
    for i, (foot, head, _, length) in enumerate(places()):
        legs += (
            f'<body pos="{foot[0]} {foot[1]} 0"><joint type="hinge" axis="1 0 0"/>'
            '<joint type="hinge" axis="0 1 0"/>'
            '<inertial pos="0 0 .15" mass="1" diaginertia=".008 .008 .0003"/>'
            f'<body><joint type="slide" axis="0 0 1" stiffness="{STIFFNESS}" springref="{length}"/>'
            '<inertial pos="0 0 -.15" mass=".5" diaginertia=".004 .004 .00005"/>'
            f'<site name="r{i}"/></body></body>'
        )
        sites += f'<site name="h{i}" pos="{head[0]} {head[1]} 0"/>'
        ties += f'<connect site1="r{i}" site2="h{i}" solref=".002 1" solimp=".9999 .9999 .001"/>'
    d = np.diag(inertia)
    model = mujoco.MjModel.from_xml_string(
        f"<mujoco><worldbody>{legs}<body><freejoint/><inertial pos='{com[0]} {com[1]} {com[2]}' "
        f"mass='{mass}' diaginertia='{d[0]} {d[1]} {d[2]}'/>{sites}</body></worldbody>"
        f"<equality>{ties}</equality></mujoco>"
    )
    data = mujoco.MjData(model)
    data.qpos[:] = np.concatenate([*(at for _, _, at, _ in places()), [0, 0, 0.6, 1, 0, 0, 0]])
    spent, found = mujoco_forward(model, data, calls)
    return spent, float(found[2])
