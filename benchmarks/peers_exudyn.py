"""The chain of four-bars in Exudyn: planar rods, revolute joints, its implicit integrators."""

from __future__ import annotations

import math
import time

import numpy as np

GRAVITY = 9.81


def exudyn_second(n: int, step: float = 1e-3) -> tuple[float, float]:
    """CPU seconds of one simulated second, and the error of the energy [J].

    Sparse solver, modified Newton, trapezoidal rule on velocities (index 2): the quickest and most
    precise of what it offers here at that step.
    """
    import exudyn as exu

    system, nodes, keep = _chain(exu, n)
    settings = exu.SimulationSettings()
    integration = settings.timeIntegration
    integration.numberOfSteps, integration.endTime = round(1 / step), 1.0
    integration.generalizedAlpha.spectralRadius = 1.0
    integration.generalizedAlpha.useIndex2Constraints = True
    integration.generalizedAlpha.useNewmark = True
    integration.newton.useModifiedNewton = True
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EigenSparse
    before = _energy(exu, system, nodes)
    begin = time.thread_time()
    system.SolveDynamic(settings)
    spent = time.thread_time() - begin
    del keep
    return spent, abs(_energy(exu, system, nodes) - before)


def _chain(exu, n: int):
    """Upright, the tops moving at 1 m/s; rods of 1 m and 1 kg told at their middles."""
    from exudyn import itemInterface as item

    container = exu.SystemContainer()
    system = container.AddSystem()
    ground, nodes = system.AddObject(item.ObjectGround()), []

    def rod(x: float, y: float, angle: float, speed: float, turn: float) -> int:
        node = system.AddNode(
            item.NodeRigidBody2D(
                referenceCoordinates=[x, y, angle], initialVelocities=[speed, 0.0, turn]
            )
        )
        made = system.AddObject(item.ObjectRigidBody2D(mass=1.0, inertia=1 / 12, nodeNumber=node))
        mark = system.AddMarker(item.MarkerBodyMass(bodyNumber=made))
        system.AddLoad(item.LoadMassProportional(markerNumber=mark, loadVector=[0, -GRAVITY, 0]))
        nodes.append(node)
        return made

    def hinge(one: int, here: list[float], two: int, there: list[float]) -> None:
        marks = [
            system.AddMarker(item.MarkerBodyPosition(bodyNumber=b, localPosition=p))
            for b, p in ((one, here), (two, there))
        ]
        system.AddObject(item.ObjectJointRevolute2D(markerNumbers=marks))

    foot, top = [-0.5, 0, 0], [0.5, 0, 0]
    stand = [rod(i, 0.5, math.pi / 2, 0.5, -1.0) for i in range(n + 1)]
    lie = [rod(i + 0.5, 1.0, 0.0, 1.0, 0.0) for i in range(n)]
    for i in range(n + 1):
        hinge(ground, [float(i), 0, 0], stand[i], foot)
    for i in range(n):
        hinge(stand[i], top, lie[i], foot)
        hinge(lie[i], top, stand[i + 1], top)
    system.Assemble()
    return system, nodes, container


def _energy(exu, system, nodes: list[int]) -> float:
    kinds, total = exu.OutputVariableType, 0.0
    for node in nodes:
        place = system.GetNodeOutput(node, kinds.Position)
        speed = system.GetNodeOutput(node, kinds.Velocity)
        turn = np.atleast_1d(system.GetNodeOutput(node, kinds.AngularVelocity))
        total += speed @ speed / 2 + turn @ turn / 24 + GRAVITY * place[1]
    return float(total)
