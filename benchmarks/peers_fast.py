"""The peers of bench_fast: the same models in Pinocchio, MuJoCo and SymPy, and their clocks.

Pinocchio is called through its binding only where its headers do not compile (peers_native); the
binding's own price is then measured on a model without joints and taken off.
"""

from __future__ import annotations

import math
import re
import time
from collections.abc import Callable
from importlib.metadata import files
from pathlib import Path

import numpy as np

cpu = time.thread_time
RADIUS = 0.01


def median(run: Callable[[], object], calls: int, repeats: int = 9) -> float:
    """CPU seconds of one of the calls that `run` makes: the median of several runs."""
    found = []
    for _ in range(repeats):
        begin = cpu()
        run()
        found.append((cpu() - begin) / calls)
    return float(np.median(found))


def robot(name: str) -> Path:
    """A URDF of example-robot-data."""
    found = [f for f in files("example-robot-data") or () if str(f).endswith(name)]
    return Path(str(found[0].locate()))


def bare(path: Path) -> str:
    """URDF text without shapes."""
    text = re.sub(r"<!--.*?-->", "", path.read_text(), flags=re.DOTALL)
    for tag in ("visual", "collision", "gazebo", "transmission"):
        text = re.sub(rf"<{tag}\b[^>]*/>", "", text)
        text = re.sub(rf"<{tag}\b.*?</{tag}>", "", text, flags=re.DOTALL)
    return text


def panda():
    """Seven axes, fingers held."""
    import pinocchio as pin

    whole = pin.buildModelFromXML(bare(robot("panda_description/urdf/panda.urdf")))
    fingers = [whole.getJointId(name) for name in whole.names if "finger" in name]
    return pin.buildReducedModel(whole, fingers, pin.neutral(whole))


def pinocchio_times(model, n: int = 4000) -> dict[str, tuple[float, float]]:
    """Seconds from Python, and without the binding's price, of each algorithm."""
    import pinocchio as pin

    data, empty = model.createData(), pin.Model()
    rng = np.random.default_rng(0)
    q = pin.randomConfiguration(model, *[s * np.ones(model.nq) for s in (-1, 1)])
    v, a = rng.uniform(-1, 1, (2, model.nv))
    none, nothing = empty.createData(), np.zeros(0)
    found = {}
    for name, algorithm, given in (
        ("rnea", pin.rnea, 3), ("crba", pin.crba, 1), ("fd", pin.aba, 3),
        ("dfd", pin.computeABADerivatives, 3), ("drnea", pin.computeRNEADerivatives, 3),
    ):  # fmt: skip
        full, small = (q, v, a)[:given], (nothing,) * given
        whole = median(lambda f=algorithm, x=full: [f(model, data, *x) for _ in range(n)], n)
        door = median(lambda f=algorithm, x=small: [f(empty, none, *x) for _ in range(n)], n)
        found[name] = (whole, whole - door)
    return found


def pinocchio_four_bar(n: int):
    """Model of the chain of loops, upright at zero, and its closures."""
    import pinocchio as pin

    model = pin.Model()
    model.gravity.linear = np.array([0, -9.81, 0])
    rod = pin.Inertia(1.0, np.array([0.5, 0, 0]), np.diag([0, 1 / 12, 1 / 12]))
    up, along = pin.Quaternion(np.array([0, 0, math.sqrt(0.5), math.sqrt(0.5)])), np.eye(3)
    end, ties = pin.SE3(along, np.array([1.0, 0, 0])), []
    tips = []
    for i in range(n + 1):
        place = pin.SE3(up.matrix(), np.array([float(i), 0, 0]))
        stand = model.addJoint(0, pin.JointModelRZ(), place, f"A{i}")
        model.appendBodyToJoint(stand, rod, pin.SE3.Identity())
        if i < n:
            lie = model.addJoint(
                stand, pin.JointModelRZ(), pin.SE3(up.matrix().T, end.translation), f"B{i}"
            )
            model.appendBodyToJoint(lie, rod, pin.SE3.Identity())
        tips.append((stand, lie if i < n else None))
    for i in range(n):
        pair = (tips[i][1], end, tips[i + 1][0], end)
        ties.append(pin.RigidConstraintModel(pin.ContactType.CONTACT_3D, model, *pair))
    return model, ties


def constrained_by_binding(model, ties, q, v, calls: int) -> tuple[float, np.ndarray]:
    """Seconds of constraintDynamics from Python, and the accelerations."""
    import pinocchio as pin

    models, held = pin.StdVec_RigidConstraintModel(), pin.StdVec_RigidConstraintData()
    models.extend(ties)
    held.extend([tie.createData() for tie in ties])
    data, settings = model.createData(), pin.ProximalSettings(1e-12, 1e-8, 20)
    pin.initConstraintDynamics(model, data, models, held)
    tau = np.zeros(model.nv)

    def run():
        for _ in range(calls):
            pin.constraintDynamics(model, data, q, v, tau, models, held, settings)

    run()
    return median(run, calls, 5), np.array(data.ddq)


def mujoco_four_bar(n: int, *, step: float = 1e-3, angle: float = 0.0):
    """Model and data of the chain of loops, turned by an angle; as stiff as the step allows."""
    import mujoco

    rod = f'<geom type="capsule" fromto="0 0 0 1 0 0" size="{RADIUS}" mass="1" contype="0"/>'
    inertial = (
        '<inertial pos=".5 0 0" mass="1" diaginertia="1e-9 .0833333333333333 .0833333333333333"/>'
    )
    hinge = '<joint type="hinge" axis="0 0 1"/>'
    bodies, ties = [], []
    for i in range(n + 1):
        inner = ""
        if i < n:
            inner = f'<body name="h{i}" pos="1 0 0" euler="0 0 -90">{hinge}{inertial}{rod}</body>'
            ties.append(
                f'<connect body1="h{i}" body2="v{i + 1}" anchor="1 0 0" solref="{2 * step} 1" '
                'solimp=".9999 .9999 .001"/>'
            )
        bodies.append(
            f'<body name="v{i}" pos="{i} 0 0" euler="0 0 90">{hinge}{inertial}{rod}{inner}</body>'
        )
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><compiler balanceinertia="true"/>'
        f'<option gravity="0 -9.81 0" integrator="RK4" timestep="{step}">'
        '<flag energy="enable"/></option><worldbody>' + "".join(bodies) + "</worldbody>"
        "<equality>" + "".join(ties) + "</equality></mujoco>"
    )
    data = mujoco.MjData(model)
    signs = np.array([-1.0 if name[0] == "v" else 1.0 for name in _moved(model)])
    data.qpos[:], data.qvel[:] = angle * signs, signs
    return model, data


def _moved(model) -> list[str]:
    return [model.body(model.jnt_bodyid[j]).name for j in range(model.njnt)]


def mujoco_forward(model, data, calls: int) -> tuple[float, np.ndarray]:
    """Seconds of mj_forward, from Python, and the accelerations."""
    import mujoco

    spent = median(lambda: [mujoco.mj_forward(model, data) for _ in range(calls)], calls, 5)
    return spent, data.qacc.copy()


def mujoco_second(n: int, step: float = 1e-3) -> tuple[float, float]:
    """CPU seconds of one simulated second in one call, and the error of the energy [J]."""
    import mujoco

    model, data = mujoco_four_bar(n, step=step)
    mujoco.mj_forward(model, data)
    before = data.energy.sum()
    begin = cpu()
    mujoco.mj_step(model, data, nstep=round(1 / step))
    spent = cpu() - begin
    mujoco.mj_forward(model, data)
    return spent, abs(float(data.energy.sum() - before))


def mujoco_chain(n: int) -> tuple[float, np.ndarray]:
    """Seconds of mj_forward on a chain of n bodies, and the accelerations."""
    import mujoco

    spec = mujoco.MjSpec()
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    body = spec.worldbody
    turn = [math.cos(0.5), math.sin(0.5), 0, 0]
    for i in range(n):
        body = body.add_body(pos=[float(i > 0), 0, 0], quat=turn if i else [1, 0, 0, 0])
        body.add_joint(type=mujoco.mjtJoint.mjJNT_HINGE, axis=[0, 0, 1])
        body.mass, body.ipos, body.explicitinertial = 1.0, [0.5, 0, 0], True
        body.inertia = [0.00125, 1 / 12 + 0.000625, 1 / 12 + 0.000625]
    model = spec.compile()
    data = mujoco.MjData(model)
    data.qpos[:] = np.linspace(-0.5, 0.5, n)
    return median(lambda: mujoco.mj_forward(model, data), 1, 5), data.qacc.copy()


def sympy_arm(n: int, numbers: np.ndarray):
    """Seconds to derive M and the forcing of a 3D arm by Kane's method, and to evaluate them.

    Also a function of q and v that gives the accelerations, with the numbers given: a row m, c, l,
    A, B, C for each link. The arm of liaison's side turns about z, −y, −z, y, … of frames that are
    not turned; here axes are z and y, so that some angles change sign, and B and C their places.
    """
    import sympy
    from sympy.physics import mechanics as me

    begin = cpu()
    q, u = me.dynamicsymbols(f"q:{n}"), me.dynamicsymbols(f"u:{n}")
    g = sympy.Symbol("g")
    world, origin = me.ReferenceFrame("N"), me.Point("O")
    origin.set_vel(world, 0)
    frame, point, bodies, loads, constants = world, origin, [], [], [g]
    for i in range(n):
        turned = frame.orientnew(f"F{i}", "Axis", (q[i], (frame.z, frame.y)[i % 2]))
        turned.set_ang_vel(frame, u[i] * (frame.z, frame.y)[i % 2])
        m, c, l, *inertia = sympy.symbols(f"m{i} c{i} l{i} A{i} B{i} C{i}")
        center = point.locatenew(f"G{i}", c * turned.x)
        center.v2pt_theory(point, world, turned)
        bodies.append(
            me.RigidBody(f"B{i}", center, turned, m, (me.inertia(turned, *inertia), center))
        )
        loads.append((center, -m * g * world.z))
        point = point.locatenew(f"P{i}", l * turned.x)
        point.v2pt_theory(center, world, turned)
        constants += [m, c, l, *inertia]
        frame = turned
    kane = me.KanesMethod(world, q, u, [a - b.diff() for a, b in zip(u, q, strict=True)])
    kane.kanes_equations(bodies, loads)
    given = [*q, *u, *constants]
    call = sympy.lambdify(given, [kane.mass_matrix, kane.forcing], cse=True)
    seconds = cpu() - begin
    signs = np.array([(1, -1, -1, 1)[i % 4] for i in range(n)])
    swapped = [row[[0, 1, 2, 3, 5, 4] if i % 2 else slice(None)] for i, row in enumerate(numbers)]
    values = [9.81, *np.concatenate(swapped)]

    def accelerations(q, v):
        matrix, force = call(*(signs * q), *(signs * v), *values)
        return signs * np.linalg.solve(matrix, force)[:, 0]

    some = np.random.default_rng(0).uniform(0.5, 1.0, 2 * n)
    return (
        seconds,
        median(lambda: [call(*some, *values) for _ in range(100)], 100, 5),
        accelerations,
    )
