"""The same in MuJoCo: a tree of hinges, and a soft constraint that closes the loop at C."""

import matplotlib.pyplot as plt
import mujoco
import numpy as np
from IPython.display import HTML
from matplotlib.animation import FuncAnimation


def bar(name, angle, mass, length, inner="", pos="0 0 0"):
    # MuJoCo wants inertia about every axis; the hinges use that about y alone
    J = mass * length**2 / 12
    return f"""
      <body name="{name}" pos="{pos}" axisangle="0 -1 0 {angle}">
        <joint name="{name}" axis="0 -1 0"/>
        <inertial pos="{length / 2} 0 0" mass="{mass}" diaginertia="{J / 100} {J} {J}"/>
        <geom type="capsule" fromto="0 0 0 {length} 0 0" size="0.01" contype="0" conaffinity="0"/>
        <site name="{name}_end" pos="{length} 0 0"/>{inner}
      </body>"""


turned = np.arctan2(3, 4) - np.pi / 2  # of the coupler, from the crank
coupler = bar("coupler", turned, 0.5, 0.3, pos="0.1 0 0")
text = f"""
<mujoco>
  <option timestep="5e-5" integrator="RK4" gravity="0 0 -9.81"/>
  <compiler angle="radian"/>
  <worldbody>{bar("crank", np.pi / 2, 0.2, 0.1, coupler)}
    {bar("rocker", np.arctan2(4, -3), 0.6, 0.35, pos="0.45 0 0")}
  </worldbody>
  <equality>
    <connect site1="coupler_end" site2="rocker_end" solref="1e-4 1" solimp="0.9999 0.9999 1e-6"/>
  </equality>
</mujoco>"""
model = mujoco.MjModel.from_xml_string(text)
data = mujoco.MjData(model)
mujoco.mj_forward(model, data)

# speeds: the crank turns by 10 rad/s, the others follow from the loop
ends = [model.site(f"{x}_end").id for x in ("coupler", "rocker")]
jacobians = np.zeros((2, 3, model.nv))
for jacobian, site in zip(jacobians, ends):
    mujoco.mj_jacSite(model, data, jacobian, None, site)
G = (jacobians[0] - jacobians[1])[[0, 2]]
data.qvel[:] = 10.0, *np.linalg.solve(G[:, 1:], -10.0 * G[:, 0])

t = np.linspace(0, 1, 101)
force, rocker, places = [], [], []
for instant in t:
    while data.time < instant - 1e-9:
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    mujoco.mj_rnePostConstraint(model, data)
    force.append(data.cfrc_int[model.body("crank").id, [3, 5]].copy())
    rocker.append(np.arctan2(4, -3) + data.joint("rocker").qpos[0])
    pins = [data.body("crank").xpos, data.body("coupler").xpos]
    pins += [data.site_xpos[ends[1]], data.body("rocker").xpos]
    places.append(np.array(pins)[:, [0, 2]])

figure, axes = plt.subplots(2, 1, sharex=True)
axes[0].plot(t, force, label=["Fx", "Fz"])
axes[0].set_ylabel("force [N]")
axes[0].legend()
axes[1].plot(t, rocker)
axes[1].set_ylabel("D [rad]")
axes[1].set_xlabel("t [s]")

picture, ax = plt.subplots()
ax.set_aspect("equal")
ax.set_xlim(-0.2, 0.6)
ax.set_ylim(-0.2, 0.4)
(line,) = ax.plot([], [], "o-", lw=4)


def draw(k):
    line.set_data(*places[k].T)
    return (line,)


HTML(FuncAnimation(picture, draw, len(t), interval=30).to_jshtml())
