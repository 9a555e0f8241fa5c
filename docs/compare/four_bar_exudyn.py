"""The same in Exudyn: rigid bodies with six coordinates each, and algebraic joints.

All joints but D leave motions out of the plane free, since exact joints would be redundant.
"""

import exudyn as exu
import exudyn.graphics as graphics
import matplotlib.pyplot as plt
import numpy as np
from exudyn.utilities import InertiaRodX, RotationMatrixZ, SensorBody, SensorObject
from IPython.display import HTML
from matplotlib.animation import FuncAnimation

lengths, masses = (0.1, 0.3, 0.35), (0.2, 0.5, 0.6)
B, C, D = np.array([0, 0.1, 0]), np.array([0.24, 0.28, 0]), np.array([0.45, 0, 0])
starts, angles = (0 * B, B, D), (np.pi / 2, np.arctan2(0.18, 0.24), np.arctan2(0.28, -0.21))
# speeds: the crank turns by 10 rad/s, the coupler and the rocker follow from the loop
bars = [length * np.array([-np.sin(x), np.cos(x)]) for length, x in zip(lengths, angles)]
follow = np.linalg.solve(np.column_stack([bars[1], -bars[2]]), -10 * bars[0])
speeds = (10.0, *follow)

SC = exu.SystemContainer()
mbs = SC.AddSystem()
ground = mbs.CreateGround()
bodies = []
for start, angle, length, mass, speed in zip(starts, angles, lengths, masses, speeds):
    along = np.array([np.cos(angle), np.sin(angle), 0])
    pivot = np.cross([0, 0, 10.0], B) if start is B else 0 * B
    bodies += [
        mbs.CreateRigidBody(
            inertia=InertiaRodX(mass, length),
            referencePosition=start + length / 2 * along,
            referenceRotationMatrix=RotationMatrixZ(angle),
            initialAngularVelocity=[0, 0, speed],
            initialVelocity=pivot + np.cross([0, 0, speed], length / 2 * along),
            gravity=[0, -9.81, 0],
            graphicsDataList=[graphics.Brick(size=[length, 0.02, 0.01])],
        )
    ]
crank, coupler, rocker = bodies
flat, pin = [1, 1, 1, 1, 1, 0], [1, 1, 0, 0, 0, 0]
joints = [
    mbs.CreateGenericJoint(itemNumbers=[ground, crank], position=0 * B, constrainedAxes=flat),
    mbs.CreateGenericJoint(itemNumbers=[crank, coupler], position=B, constrainedAxes=flat),
    mbs.CreateGenericJoint(itemNumbers=[coupler, rocker], position=C, constrainedAxes=pin),
    mbs.CreateGenericJoint(itemNumbers=[ground, rocker], position=D, constrainedAxes=flat),
]
reaction = mbs.AddSensor(
    SensorObject(
        objectNumber=joints[0],
        storeInternal=True,
        outputVariableType=exu.OutputVariableType.ForceLocal,
    )
)
turned = [
    mbs.AddSensor(
        SensorBody(
            bodyNumber=x, storeInternal=True, outputVariableType=exu.OutputVariableType.Rotation
        )
    )
    for x in bodies
]
mbs.Assemble()
settings = exu.SimulationSettings()
settings.timeIntegration.numberOfSteps = 4000
settings.timeIntegration.endTime = 1
settings.timeIntegration.generalizedAlpha.spectralRadius = 0.9
settings.solution.sensors.writePeriod = 0.01
settings.solution.file.write = False
mbs.SolveDynamic(settings)

t, *force = mbs.GetSensorStoredData(reaction).T[:3]
rotations = [np.unwrap(mbs.GetSensorStoredData(x)[:, 3]) for x in turned]

figure, axes = plt.subplots(2, 1, sharex=True)
axes[0].plot(t, np.transpose(force), label=["Fx", "Fy"])
axes[0].set_ylabel("force [N]")
axes[0].legend()
axes[1].plot(t, rotations[2])
axes[1].set_ylabel("D [rad]")
axes[1].set_xlabel("t [s]")

picture, ax = plt.subplots()
ax.set_aspect("equal")
ax.set_xlim(-0.2, 0.6)
ax.set_ylim(-0.2, 0.4)
(line,) = ax.plot([], [], "o-", lw=4)


def draw(k):
    q1, _, q3 = (x[k] for x in rotations)
    B = 0.1 * np.array([np.cos(q1), np.sin(q1)])
    C = np.array([0.45 + 0.35 * np.cos(q3), 0.35 * np.sin(q3)])
    line.set_data(*np.array([(0, 0), B, C, (0.45, 0)]).T)
    return (line,)


HTML(FuncAnimation(picture, draw, len(t), interval=30).to_jshtml())
