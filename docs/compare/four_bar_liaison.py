"""A four-bar linkage in liaison: the force in hinge A, a plot, and the motion in the cell."""

from liaison import Revolute, body, gravity, ground, guess, join, mechanism, plot, simulate, start


def bar(name, m, l):
    return body(name, m, center=(l / 2, 0, 0), inertia=(0, m * l**2 / 12, m * l**2 / 12))


crank, coupler, rocker = bar("crank", 0.2, 0.1), bar("coupler", 0.5, 0.3), bar("rocker", 0.6, 0.35)
A = join(ground, crank, Revolute, name="A", axis="-y")
B = join(crank.at((0.1, 0, 0)), coupler, Revolute, name="B", axis="-y")
C = join(coupler.at((0.3, 0, 0)), rocker.at((0.35, 0, 0)), Revolute, name="C", axis="-y")
D = join(ground.at((0.45, 0, 0)), rocker, Revolute, name="D", axis="-y")
four_bar = mechanism(A, B, C, D, gravity(), start("A", "90 deg"), start("A'", 10), guess("D", 2.2))
run = simulate(four_bar, until=1, every=0.01, series=("reactions",))
plot(run, "reactions.A.Fx", "reactions.A.Fy", "D")
run.show()
