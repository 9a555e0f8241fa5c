"""The same in SymPy and SciPy, as PyDy's users write it: Lagrange's equations with multipliers.

The loop is cut at A, so that the multipliers are the force of the ground on the crank.
"""

import matplotlib.pyplot as plt
import numpy as np
from IPython.display import HTML
from matplotlib.animation import FuncAnimation
from scipy.integrate import solve_ivp
from scipy.optimize import fsolve
from sympy import Matrix, lambdify, symbols
from sympy.physics.mechanics import (
    LagrangesMethod,
    Lagrangian,
    Point,
    ReferenceFrame,
    RigidBody,
    dynamicsymbols,
    inertia,
)

a, b, c, d, g = symbols("a b c d g")
masses = symbols("m1:4")
q = q1, q2, q3 = dynamicsymbols("q1:4")  # angles of crank, coupler and rocker from x
N, O = ReferenceFrame("N"), Point("O")  # N.x to the right, N.y up
O.set_vel(N, 0)
pin_D = O.locatenew("D", d * N.x)
pin_D.set_vel(N, 0)


def link(name, angle, mass, start, length, sign):
    frame = N.orientnew(name, "Axis", [angle, N.z])
    end = start.locatenew(f"{name}_end", sign * length * frame.x)
    center = start.locatenew(f"{name}_center", sign * length / 2 * frame.x)
    for point in (end, center):
        point.v2pt_theory(start, N, frame)
    central = inertia(frame, 0, 0, mass * length**2 / 12)
    body = RigidBody(name, center, frame, mass, (central, center))
    body.potential_energy = mass * g * center.pos_from(O).dot(N.y)
    return body, end


rocker, pin_C = link("rocker", q3, masses[2], pin_D, c, 1)
coupler, pin_B = link("coupler", q2, masses[1], pin_C, b, -1)
crank, pin_A = link("crank", q1, masses[0], pin_B, a, -1)
loop = Matrix([pin_A.pos_from(O).dot(N.x), pin_A.pos_from(O).dot(N.y)])
method = LagrangesMethod(Lagrangian(N, rocker, coupler, crank), q, hol_coneqs=loop, frame=N)
method.form_lagranges_equations()

values = {a: 0.1, b: 0.3, c: 0.35, d: 0.45, g: 9.81, **dict(zip(masses, (0.2, 0.5, 0.6)))}
state = [*q, *method.q.diff("t")]
left = lambdify(state, method.mass_matrix_full.subs(values))
right = lambdify(state, method.forcing_full.subs(values))
jacobian = lambdify(q, loop.jacobian(q).subs(values))
closure = lambdify(q, loop.subs(values))

start = fsolve(lambda x: closure(np.pi / 2, *x).ravel(), [-0.9, 2.2])
angles = np.array([np.pi / 2, *start])
G = jacobian(*angles)
rates = np.array([10.0, *np.linalg.solve(G[:, 1:], -10.0 * G[:, 0])])


def solved(x):
    return np.linalg.solve(left(*x), right(*x)).ravel()


t = np.linspace(0, 1, 101)
run = solve_ivp(
    lambda t, x: solved(x)[:6], (0, 1), [*angles, *rates], t_eval=t, rtol=1e-10, atol=1e-10
)
force = np.array([solved(x)[6:] for x in run.y.T])

figure, axes = plt.subplots(2, 1, sharex=True)
axes[0].plot(t, force, label=["Fx", "Fy"])
axes[0].set_ylabel("force [N]")
axes[0].legend()
axes[1].plot(t, run.y[2])
axes[1].set_ylabel("D [rad]")
axes[1].set_xlabel("t [s]")

picture, ax = plt.subplots()
ax.set_aspect("equal")
ax.set_xlim(-0.2, 0.6)
ax.set_ylim(-0.2, 0.4)
(line,) = ax.plot([], [], "o-", lw=4)


def draw(k):
    q1, _, q3 = run.y[:3, k]
    B = 0.1 * np.array([np.cos(q1), np.sin(q1)])
    C = np.array([0.45 + 0.35 * np.cos(q3), 0.35 * np.sin(q3)])
    line.set_data(*np.array([(0, 0), B, C, (0.45, 0)]).T)
    return (line,)


HTML(FuncAnimation(picture, draw, len(t), interval=30).to_jshtml())
