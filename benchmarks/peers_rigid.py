"""Mechanisms of liaison in Exudyn and MuJoCo: the same bodies, joints, ties and start.

Exudyn takes every body free (Euler parameters) and joints as constraints; MuJoCo takes the tree of
joints and soft ties, as stiff as its step allows. What a run gives back are the mass centers.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

import liaison
from liaison.analyse.along.maximal_run import moving_bodies
from liaison.model import Gravity, Prismatic, Revolute, Rolling, Spherical, Universal
from liaison.spatial import quaternion_of
from liaison.tree import Tree

Place = tuple[str, tuple[float, float, float]]
HELD = {Revolute: [1, 1, 1, 1, 1, 0], Prismatic: [1, 1, 0, 1, 1, 1], Spherical: [1, 1, 1, 0, 0, 0],
        Universal: [1, 1, 1, 0, 0, 1]}  # fmt: skip


@dataclass(frozen=True)
class Model:
    """A mechanism, its start, and what the peers are told besides bodies and joints.

    Attributes:
        tree: of the mechanism, joints revolute, prismatic, spherical or universal.
        state: where it starts.
        until: where it ends [s].
        ties: pairs of points held together in the plane, told as relations to liaison.
        spring: two points, stiffness, length at rest.
        torque: body and moment about z on it.
        is_planar: inertias about x and y do not matter; they are as about z.
    """

    tree: Tree
    state: liaison.State
    until: float
    ties: tuple[tuple[Place, Place], ...] = ()
    spring: tuple[Place, Place, float, float] | None = None
    torque: tuple[str, float] | None = None
    is_planar: bool = False
    gravity: np.ndarray = field(init=False)

    def __post_init__(self) -> None:
        found = [f.vector for f in self.tree.mechanism.forces if isinstance(f, Gravity)]
        total = (
            np.array([[float(x) for x in g] for g in found]).sum(axis=0) if found else np.zeros(3)
        )
        object.__setattr__(self, "gravity", total)

    def bodies(self) -> list[tuple[str, float, np.ndarray, np.ndarray]]:
        """Name, mass, mass center and inertia about it, in the body's axes."""
        found = []
        for body in self.tree.mechanism.bodies[1:]:
            I = np.array([[float(x) for x in row] for row in body.inertia])
            if self.is_planar:
                I = I[2, 2] * np.eye(3)
            found.append((body.name, float(body.mass), np.array(body.com, dtype=float), I))
        return found

    def centers(self, poses: Mapping[str, tuple[np.ndarray, np.ndarray]]) -> np.ndarray:
        """Places of all mass centers from poses of bodies."""
        return np.array([poses[n][1] + poses[n][0] @ c for n, _, c, _ in self.bodies()])


class Exudyn:
    """The model in Exudyn."""

    def __init__(self, model: Model) -> None:
        import exudyn
        from exudyn import itemInterface as item

        self.exu, self.item, self.model = exudyn, item, model
        self.container = exudyn.SystemContainer()
        self.system = self.container.AddSystem()
        self.objects = {"ground": self.system.AddObject(item.ObjectGround())}
        self.centers = {name: c for name, _, c, _ in model.bodies()} | {"ground": np.zeros(3)}
        self.nodes = [self._body(*body) for body in model.bodies()]
        for joint in model.tree.mechanism.joints:
            if type(joint.type) in HELD:
                self._joint(joint)
        for one, other in model.ties:
            self._hold([self._mark(*one), self._mark(*other)], [1, 1, 0, 0, 0, 0])
        self._loads()
        for rolling in model.tree.mechanism.constraints:
            if isinstance(rolling, Rolling):
                self._rolls(rolling)
        self.system.Assemble()

    def _body(self, name: str, mass: float, com: np.ndarray, I: np.ndarray) -> int:
        item, system = self.item, self.system
        R, p, twist = moving_bodies(self.model.tree, self.model.state)[name]
        w, *x = quaternion_of(R)
        omega, x = twist[:3], np.array(x)
        speed = R @ (twist[3:] + np.cross(omega, com))
        turn = 0.5 * np.array([-x @ omega, *(w * omega + np.cross(x, omega))])
        node = system.AddNode(
            item.NodeRigidBodyEP(
                referenceCoordinates=[*(p + R @ com), w, *x], initialVelocities=[*speed, *turn]
            )
        )
        six = [I[0, 0], I[1, 1], I[2, 2], I[1, 2], I[0, 2], I[0, 1]]
        made = system.AddObject(item.ObjectRigidBody(mass=mass, inertia=six, nodeNumber=node))
        if self.model.gravity.any():
            mark = system.AddMarker(item.MarkerBodyMass(bodyNumber=made))
            load = item.LoadMassProportional(markerNumber=mark, loadVector=[*self.model.gravity])
            system.AddLoad(load)
        self.objects[name] = made
        return node

    def _mark(self, body: str, point: tuple[float, ...], R: np.ndarray | None = None) -> int:
        place = [float(x) for x in np.array(point, dtype=float) - self.centers[body]]
        turned = np.eye(3) if R is None else R
        pose = self.exu.HT(rotation=turned, translation=place)
        made = self.item.MarkerBodyRigid(bodyNumber=self.objects[body], localHT=pose)
        return self.system.AddMarker(made)

    def _hold(self, marks: list[int], axes: list[int]) -> None:
        self.system.AddObject(self.item.GenericJoint(markerNumbers=marks, constrainedAxes=axes))

    def _joint(self, joint: object) -> None:
        ends = (joint.predecessor, joint.successor)
        turned = [np.array([[float(x) for x in row] for row in marker.R]) for marker in ends]
        marks = [self._mark(m.body, m.p, R) for m, R in zip(ends, turned, strict=True)]
        self._hold(marks, HELD[type(joint.type)])

    def _loads(self) -> None:
        item, model = self.item, self.model
        if model.spring is not None:
            one, other, stiffness, rest = model.spring
            marks = [self._mark(*one), self._mark(*other)]
            self.system.AddObject(
                item.SpringDamper(markerNumbers=marks, stiffness=stiffness, referenceLength=rest)
            )
        if model.torque is not None:
            mark = self._mark(model.torque[0], (0, 0, 0))
            load = item.LoadTorqueVector(markerNumber=mark, loadVector=[0, 0, model.torque[1]])
            self.system.AddLoad(load)

    def _rolls(self, rolling: Rolling) -> None:
        axis = [float(row[2]) for row in rolling.wheel.R]
        marks = [self._mark("ground", (0, 0, 0)), self._mark(rolling.wheel.body, rolling.wheel.p)]
        self.system.AddObject(
            self.item.RollingDiscJoint(
                markerNumbers=marks, discRadius=float(rolling.radius), discAxis=axis,
                planeNormal=[0, 0, 1],
            )
        )  # fmt: skip

    def solve(self, step: float) -> None:
        """A run: trapezoidal rule on velocities (index 2), modified Newton."""
        settings = self.exu.SimulationSettings()
        integration = settings.timeIntegration
        integration.numberOfSteps = round(self.model.until / step)
        integration.endTime = self.model.until
        integration.generalizedAlpha.spectralRadius = 1.0
        integration.generalizedAlpha.useIndex2Constraints = True
        integration.generalizedAlpha.useNewmark = True
        integration.newton.useModifiedNewton = True
        integration.newton.relativeTolerance, integration.newton.absoluteTolerance = 1e-10, 1e-12
        settings.solution.file.write = False
        settings.linearSolver.solverType = self.exu.LinearSolverType.EXUdense
        self.system.SolveDynamic(settings)

    def found(self) -> np.ndarray:
        """Places of the mass centers."""
        kind = self.exu.OutputVariableType.Position
        return np.array([self.system.GetNodeOutput(node, kind) for node in self.nodes])


class Mujoco:
    """The model in MuJoCo, RK4."""

    def __init__(self, model: Model, step: float) -> None:
        import mujoco

        self.mujoco, self.model = mujoco, model
        spec = mujoco.MjSpec()
        spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
        spec.option.integrator = mujoco.mjtIntegrator.mjINT_RK4
        spec.option.timestep, spec.option.gravity = step, model.gravity
        spec.option.tolerance, spec.option.iterations = 1e-14, 100
        self.step = step
        made = {"ground": spec.worldbody}
        for node in model.tree.nodes:
            made[node.body] = self._body(made, node)
        self._ties(spec, made)
        self.compiled = spec.compile()
        self.data = mujoco.MjData(self.compiled)
        self.data.qpos[:], self.data.qvel[:] = model.state.q, model.state.v
        if model.torque is not None:
            first = [node.body for node in model.tree.nodes].index(model.torque[0])
            self.data.qfrc_applied[first] = model.torque[1]

    def _body(self, made: dict[str, object], node: object) -> object:
        mujoco, kind = self.mujoco, node.joint.type
        parent = "ground" if node.parent < 0 else self.model.tree.nodes[node.parent].body
        R, p = (np.array(x, dtype=float) for x in node.X_PJ)
        body = made[parent].add_body(name=node.body, pos=p, quat=quaternion_of(R))
        hinge, slide = mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE
        listed = {
            Revolute: [(hinge, [0, 0, 1])], Prismatic: [(slide, [0, 0, 1])],
            Universal: [(hinge, [1, 0, 0]), (hinge, [0, 1, 0])],
            Spherical: [(mujoco.mjtJoint.mjJNT_BALL, [0, 0, 1])],
        }[type(kind)]  # fmt: skip
        for way, axis in listed:
            body.add_joint(type=way, axis=axis)
        name = next(k for k, x in enumerate(self.model.bodies()) if x[0] == node.body)
        _, mass, com, I = self.model.bodies()[name]
        turned, place = (np.array(x, dtype=float) for x in self.model.tree.frames[node.body][1])
        J = turned @ I @ turned.T
        body.mass, body.ipos, body.explicitinertial = mass, place + turned @ com, True
        body.fullinertia = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
        return body

    def _ties(self, spec: object, made: dict[str, object]) -> None:
        mujoco, model = self.mujoco, self.model
        pairs = [(c.joint.predecessor, c.joint.successor) for c in model.tree.closures]
        pairs = [((a.body, a.p), (b.body, b.p)) for a, b in pairs] + [*model.ties]
        for one, other in pairs:
            names = [self._site(made, *end) for end in (one, other)]
            tie = spec.add_equality()
            tie.type, tie.objtype = mujoco.mjtEq.mjEQ_CONNECT, mujoco.mjtObj.mjOBJ_SITE
            tie.name1, tie.name2 = names
            tie.solref, tie.solimp = [2 * self.step, 1], [0.9999, 0.9999, 0.001, 0.5, 2]
        if model.spring is not None:
            tendon = spec.add_tendon(name="spring")
            for end in model.spring[:2]:
                tendon.wrap_site(self._site(made, *end))
            tendon.stiffness, tendon.springlength = [model.spring[2], 0, 0], [model.spring[3]] * 2

    def _site(self, made: dict[str, object], body: str, point: object) -> str:
        place = np.array(point, dtype=float)
        if body != "ground":
            R, p = (np.array(x, dtype=float) for x in self.model.tree.frames[body][1])
            place = p + R @ place
        name = f"site {sum(len(x.sites) for x in made.values())}"
        made[body].add_site(name=name, pos=place)
        return name

    def solve(self, step: float) -> None:
        """A run of as many steps as there are."""
        self.mujoco.mj_step(self.compiled, self.data, nstep=round(self.model.until / step))

    def found(self) -> np.ndarray:
        """Places of the mass centers."""
        self.mujoco.mj_kinematics(self.compiled, self.data)
        self.mujoco.mj_comPos(self.compiled, self.data)
        names = [body[0] for body in self.model.bodies()]
        return np.array([self.data.body(name).xipos for name in names])
