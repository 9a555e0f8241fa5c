"""What each formalism says in its own words: speeds, γ, S, H, B and C, balances; and refusals."""

from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest

from liaison.analyse.compare.compare import exact_mechanism
from liaison.analyse.compare.equality import prove
from liaison.equations import (
    balance,
    boltzmann_hamel,
    dalembert,
    gibbs_appell,
    hamilton,
    kane,
    lagrange,
    lagrange_reduced,
    lie_group,
    newton_euler,
)
from liaison.equations.formalisms.lie_group import (
    bracket,
    inertia_operator,
    klein,
    operator_b,
    operator_c,
)
from liaison.errors import DerivationError, NamingError
from liaison.exact.linear import inverse
from liaison.exact.residues import residues
from liaison.expr import (
    ZERO,
    cos,
    count_operations,
    directional,
    evaluate,
    gradient,
    jacobian,
    sin,
    substitute,
    symbol,
    to_text,
)
from liaison.formats import read
from liaison.model import Body, EulerZXZ, Gravity, Joint, Marker, Mechanism, Revolute, Spherical
from liaison.tree import span
from samples import solved
from samples.drawing import draw, values_of
from samples.shelf import EXAMPLES


def tree_of(name):
    return span(read(EXAMPLES / name), exact=True)


def is_zero(*formulas):
    """Zero at two random points modulo a prime."""
    return not any(
        value for seed in (1, 2) for value in evaluate(list(formulas), domain=residues(seed=seed))
    )


def same(reference, other):
    return prove(reference, {"other": other})["other"].is_proved


def ball(inertia=(2, 3, 5)):
    """A body on a ball joint, its attitude in Euler's angles."""
    a, b, c = inertia
    body = Body("top", 7, (0, 0, Fraction(1, 3)), ((a, 0, 0), (0, b, 0), (0, 0, c)))
    joint = Joint("A", Spherical(EulerZXZ()), Marker("ground"), Marker("top"))
    return span(Mechanism("ball", (body,), (joint,), forces=(Gravity(),)), exact=True)


def massless():
    joint = Joint("A", Revolute(), Marker("ground"), Marker("b"))
    return span(Mechanism("massless", (Body("b", 0),), (joint,)))


# Kane


def test_kane_gives_the_documents_equations_of_the_elliptic_pendulum():
    y, theta = symbol("y'"), symbol("theta'")
    made = kane(tree_of("elliptic_pendulum.lsd"), speeds={"w1": y, "w2": theta})
    own = made.native["kane"]
    m1, m2, a, w2 = (symbol(x) for x in ("m1", "m2", "a", "w2"))
    c, s = cos(symbol("theta")), sin(symbol("theta"))
    assert is_zero(own.M[0, 0] - (m1 + m2), own.M[1, 0] - m2 * a * c, own.M[1, 1] - m2 * a * a)
    g = Fraction(981, 100)
    assert is_zero(own.h[0] + m2 * a * s * w2 * w2, own.h[1] - m2 * a * g * s)
    assert own.speeds == ("w1", "w2")


def test_kane_in_chosen_speeds_is_the_same():
    tree = tree_of("elliptic_pendulum.lsd")
    t, y, theta = symbol("t"), symbol("y'"), symbol("theta'")
    a, angle = symbol("a"), symbol("theta")
    across = {"u1": y + a * cos(angle) * theta, "u2": a * sin(angle) * theta}
    moving = {"u1": y - sin(t), "u2": (2 + sin(t)) * theta + y}
    for speeds in (across, moving):
        assert same(newton_euler(tree), kane(tree, speeds=speeds))
        assert same(newton_euler(tree), gibbs_appell(tree, speeds=speeds))
    assert same(newton_euler(tree), boltzmann_hamel(tree, quasi_velocities=across))


def test_partial_velocities_are_told_by_body_and_speed():
    own = kane(tree_of("elliptic_pendulum.lsd")).native["kane"]
    assert [to_text(x) for x in own.partial_velocities["cart"]["y'"]] != ["0"] * 6
    assert "theta'" not in own.partial_velocities["cart"]


@pytest.mark.parametrize("formalism", [kane, gibbs_appell])
@pytest.mark.parametrize(
    ("speeds", "words"),
    [
        ({"u": symbol("y'")}, "1 generalised speeds are given and 2 are needed"),
        ({"u": symbol("y'"), "w": 2 * symbol("y'")}, "'w' is a combination of the others"),
        ({"u": symbol("y'") ** 2, "w": symbol("theta'")}, "'u' is not linear"),
        ({"y": symbol("y'"), "w": symbol("theta'")}, "'y' has the name of a coordinate"),
    ],
)
def test_speeds_that_will_not_do_are_refused(formalism, speeds, words):
    with pytest.raises(DerivationError, match=words):
        formalism(tree_of("elliptic_pendulum.lsd"), speeds=speeds)


# Boltzmann and Hamel


def test_gamma_of_angular_velocity_is_the_cross_product():
    own = boltzmann_hamel(ball()).native["boltzmann_hamel"]
    assert own.quasi_velocities == ("A wx", "A wy", "A wz")
    for i, j, k in np.ndindex(3, 3, 3):
        # ε̇_i + Σ γ_ijk u_k ε_j = Q_i is Euler's I ω̇ + ω × I ω: γ_ijk u_k ε_j = (u × ε)_i
        sign = levi_civita(i, k, j)
        assert is_zero(own.gamma.get((i, j, k), ZERO) - sign)


def levi_civita(*places):
    signs = dict(zip(permutations(range(3)), (1, -1, -1, 1, 1, -1), strict=True))
    return signs.get(places, 0)


def test_gamma_is_the_documents_formula():
    """γ_ijk = Σ β_ri β_sk (∂α_rj/∂q_s − ∂α_sj/∂q_r), where rates are velocities."""
    tree = tree_of("satellite.lsd")
    made = boltzmann_hamel(tree)
    own = made.native["boltzmann_hamel"]
    q, n = made.symbols.q, len(made.symbols.v)
    beta = jacobian(list(own.qdot), list(own.u))  # (coordinate, quasi-velocity)
    point = {x: 1000003 + 7 * k for k, x in enumerate((*q, *made.symbols.p))}
    domain = residues()
    p = domain.p

    def at(formulas):
        return [int(x) for x in evaluate(formulas, point, domain)]

    B = np.zeros((n, n), dtype=object)
    for key, x in zip(beta, at(list(beta.values())), strict=True):
        B[key] = x
    inverted = inverse(B.tolist(), p)
    A = [[int(inverted[j, i]) for j in range(n)] for i in range(n)]  # α_ij, i coordinate
    # ∂α = −α (∂β) α, read at the same point
    slopes = {}
    for s in range(n):
        found = directional(list(beta.values()), {q[s]: 1})
        D = np.zeros((n, n), dtype=object)
        for key, x in zip(beta, at(found), strict=True):
            D[key] = x
        alpha = np.array(A, dtype=object).T  # (quasi-velocity, coordinate)
        slopes[s] = (-(alpha.dot(D).dot(alpha)) % p).T  # ∂α_rj/∂q_s at [r, j]
    gamma = dict(zip(own.gamma, at(list(own.gamma.values())), strict=True))
    for i, j, k in [(0, 1, 2), (1, 2, 0), (0, 4, 5), (3, 4, 2), (6, 6, 7), (5, 3, 1)]:
        wanted = sum(
            B[r, i] * B[s, k] * (slopes[s][r, j] - slopes[r][s, j])
            for r in range(n)
            for s in range(n)
        )
        assert (gamma.get((i, j, k), 0) - wanted) % p == 0


def test_the_first_index_of_beta_is_the_coordinates():
    """δ_i = Σ β_ji ∂T/∂q_j with q̇_j = Σ β_ji u_i; with q̇_i = Σ β_ji u_j, as printed, it is not."""
    theta = symbol("theta'")
    speeds = {"u": symbol("y'") + symbol("a") * cos(symbol("theta")) * theta, "w": theta}
    made = boltzmann_hamel(tree_of("elliptic_pendulum.lsd"), quasi_velocities=speeds)
    own = made.native["boltzmann_hamel"]
    q, beta = made.symbols.q, jacobian(list(own.qdot), list(own.u))
    slopes = gradient(own.T, list(q))
    right, printed = [ZERO] * len(q), [ZERO] * len(q)
    for (i, j), entry in beta.items():  # q̇_i = Σ entry u_j
        right[j] = right[j] + entry * slopes[i]
        printed[i] = printed[i] + entry * slopes[j]
    assert is_zero(*(a - b for a, b in zip(own.delta, right, strict=True)))
    assert not is_zero(*(a - b for a, b in zip(own.delta, printed, strict=True)))


def test_quasi_velocities_that_are_not_homogeneous_are_refused_and_others_named():
    speeds = {"u": symbol("y'") + 1, "w": symbol("theta'")}
    with pytest.raises(DerivationError, match="is no rate") as refused:
        boltzmann_hamel(tree_of("elliptic_pendulum.lsd"), quasi_velocities=speeds)
    assert "kane and gibbs_appell" in refused.value.hint


# Gibbs and Appell


def test_the_function_of_gibbs_is_half_the_sum_of_squared_accelerations():
    """S of a body that is six particles, against the particles themselves."""
    rng = np.random.default_rng(3)
    at, masses = rng.uniform(-1, 1, (6, 3)), rng.uniform(0.5, 2, 6)
    center = masses @ at / masses.sum()
    r = at - center
    inertia = sum(m * (x @ x * np.eye(3) - np.outer(x, x)) for m, x in zip(masses, r, strict=True))
    body = Body("top", float(masses.sum()), tuple(center), ((inertia + inertia.T) / 2).tolist())
    joint = Joint("A", Spherical(EulerZXZ()), Marker("ground"), Marker("top"))
    tree = span(Mechanism("particles", (body,), (joint,)))
    made = gibbs_appell(tree)
    own = made.native["gibbs_appell"]
    symbols = made.symbols
    R = np.array(made.reports.poses["top"][:9]).reshape(3, 3)
    places = [x for point in at for x in R @ point]
    flow = dict(zip(symbols.q, symbols.v, strict=True))
    flow |= dict(zip(symbols.v, symbols.vdot, strict=True))
    values = dict(zip((*symbols.q, *symbols.v, *symbols.vdot), rng.uniform(0.2, 1, 9), strict=True))
    a = np.array(evaluate(directional(directional(places, flow), flow), values)).reshape(6, 3)
    expected = 0.5 * masses @ (a * a).sum(axis=1)
    assert evaluate(own.S, values) == pytest.approx(expected, rel=1e-12)


def test_gibbs_function_differentiated_is_what_acts():
    tree = tree_of("elliptic_pendulum.lsd")
    own = gibbs_appell(tree).native["gibbs_appell"]
    needed = gradient(own.S, list(own.udot))
    lines = newton_euler(tree).dynamics
    for k, (a, b) in enumerate(zip(needed, own.Q, strict=True)):
        assert is_zero(a - b - lines.inverse[k])


# Hamilton


def test_the_pendulum_has_the_hamiltonian_of_the_books():
    tree = tree_of("elliptic_pendulum.lsd")
    own = hamilton(tree).native["hamilton"]
    assert own.is_explicit
    m1, m2, a, theta = (symbol(x) for x in ("m1", "m2", "a", "theta"))
    p, r = symbol("p_y"), symbol("p_theta")
    c, s, g = cos(theta), sin(theta), Fraction(981, 100)
    top = a * a * p * p * m2 - 2 * m2 * a * c * p * r + (m1 + m2) * r * r
    H = top / (2 * m2 * a * a * (m1 + m2 * s * s)) - m2 * g * a * c
    assert is_zero(own.H - H)


@pytest.mark.parametrize("explicit", [True, False])
def test_hamiltons_equations_are_the_same_explicit_or_not(explicit):
    for tree in (tree_of("satellite.lsd"), tree_of("rolling_disc.lsd"), ball()):
        assert same(newton_euler(tree), hamilton(tree, explicit=explicit, limit=10**6))


def test_energy_does_not_change_along_hamiltons_equations():
    tree = ball()
    own = hamilton(tree).native["hamilton"]
    q = newton_euler(tree).symbols.q
    flow = dict(zip(q, own.qdot, strict=True)) | dict(zip(own.p, own.pdot, strict=True))
    assert is_zero(*directional([own.H], flow))
    gained = [a - b for a, b in zip(gradient(own.H, list(own.p)), own.v, strict=True)]
    assert is_zero(*gained)


def test_forces_without_potential_are_named_and_stay_beside_the_hamiltonian():
    sample = draw(4)
    made = hamilton(span(exact_mechanism(sample.mechanism), exact=True))
    own = made.native["hamilton"]
    assert "Forces without a potential are beside H, in Q" in own.note
    assert any(x is not ZERO for x in own.Q)


def test_an_explicit_hamiltonian_that_cannot_be_is_refused():
    with pytest.raises(DerivationError, match="more than the limit of 10") as refused:
        hamilton(tree_of("satellite.lsd"), explicit=True, limit=10)
    assert "explicit=False" in refused.value.hint
    massless = Mechanism(
        "m", (Body("b", 0),), (Joint("A", Revolute(), Marker("ground"), Marker("b")),)
    )
    with pytest.raises(DerivationError, match="M is singular"):
        hamilton(span(massless), explicit=True)
    assert not hamilton(span(massless)).native["hamilton"].is_explicit


# Lie group


def random_screws(count, seed=0):
    rng = np.random.default_rng(seed)
    return [np.array(rng.integers(-9, 10, 6).tolist(), dtype=object) for _ in range(count)]


INERTIA = (3, np.array([1, -2, 5], dtype=object), np.array(
    [[7, 1, 2], [1, 9, -3], [2, -3, 11]], dtype=object))  # fmt: skip


def test_screws_form_a_lie_algebra_on_which_kleins_form_is_invariant():
    X, Y, Z = random_screws(3)
    jacobi = bracket(X, bracket(Y, Z)) + bracket(Y, bracket(Z, X)) + bracket(Z, bracket(X, Y))
    assert not np.any(jacobi)
    assert klein(bracket(X, Y), Z) == klein(X, bracket(Y, Z))
    assert klein(X, inertia_operator(INERTIA, Y)) == klein(inertia_operator(INERTIA, X), Y)


def test_b_and_c_are_the_documents_operators():
    X, Y = random_screws(2, seed=1)
    H = lambda Z: inertia_operator(INERTIA, Z)  # noqa: E731
    assert np.all(operator_b(INERTIA, X, Y) == bracket(X, H(Y)))
    C = bracket(X, H(Y)) + bracket(Y, H(X)) + H(bracket(X, Y))
    assert np.all(operator_c(INERTIA, X, Y) == C)


@pytest.mark.parametrize("name", ["satellite.lsd", "arm7.urdf", "leg.lsd"])
def test_pairs_of_joints_with_c_give_the_same_as_sums_with_b(name):
    tree = tree_of(name)
    group = lie_group(tree).native["lie_group"]
    for a, b in zip(group.needed(), group.needed_by_pairs(), strict=True):
        assert is_zero(*(a - b))
    assert same(newton_euler(tree), lie_group(tree, by_pairs=True))


# d'Alembert


@pytest.mark.parametrize("point", ["joint", "center", "ground"])
def test_every_moment_point_gives_the_same_equations(point):
    tree = tree_of("double_pendulum.lsd")
    assert same(newton_euler(tree), dalembert(tree, moment_point=point))


def test_a_moment_point_that_is_not_known_is_refused():
    with pytest.raises(DerivationError, match="no moment point is called 'here'"):
        dalembert(tree_of("pendulum.lsd"), moment_point="here")


def test_a_mass_center_without_mass_is_refused():
    with pytest.raises(DerivationError, match="has no mass, hence no mass center"):
        dalembert(massless(), moment_point="center")


@pytest.mark.parametrize("seed", [0, 2, 5])
def test_the_balance_of_any_sub_system_holds_with_the_reactions(seed):
    x = solved(seed)
    made = x.equations
    bodies = [body.name for body in x.sample.mechanism.bodies[1:]]
    symbols = made.symbols
    values = values_of(made, x.at)
    values |= dict(zip(symbols.vdot, x.forward["vdot"].tolist(), strict=True))
    values |= dict(zip(symbols.lam, x.forward["lam"].tolist(), strict=True))
    passed = made.reports.reactions
    for group in (bodies[:1], bodies[-2:], bodies):
        told = balance(x.tree, group, (bodies[0], (0.1, -0.2, 0.3)))
        known = dict(values)
        for joint, unknowns in told.reactions.items():
            known |= dict(zip(unknowns, evaluate(list(passed[joint]), values), strict=True))
        for left, right in (*told.resultant, *told.moment):
            a, b = evaluate([left, right], known)
            assert a == pytest.approx(b, rel=1e-9, abs=1e-9)


def test_the_balance_of_the_whole_has_no_inner_reactions():
    tree = tree_of("double_pendulum.lsd")
    bodies = [body.name for body in tree.mechanism.bodies[1:]]
    assert len(balance(tree, bodies).reactions) == 1
    assert len(balance(tree, bodies[:1]).reactions) == 2


def test_sub_systems_of_nothing_or_of_the_ground_are_refused():
    tree = tree_of("double_pendulum.lsd")
    with pytest.raises(NamingError, match="no body is named 'arm'"):
        balance(tree, ["arm"])
    for bodies in ([], ["ground"]):
        with pytest.raises(DerivationError, match="made of bodies that move"):
            balance(tree, bodies)


# Lagrange without multipliers


def test_reduced_equations_are_as_many_as_freedoms():
    made = lagrange_reduced(tree_of("four_bar.lsd"))
    own = made.native["lagrange_reduced"]
    assert own.mobility == 1
    assert sum(x is not ZERO for x in made.dynamics.h) == 1
    chosen = lagrange_reduced(tree_of("four_bar.lsd"), independent=["B"])
    assert [x.name for x in chosen.native["lagrange_reduced"].u] == ["B'"]


def test_without_closures_nothing_is_reduced():
    tree = tree_of("double_pendulum.lsd")
    a, b = lagrange(tree), lagrange_reduced(tree)
    assert b.formalism == "lagrange_reduced"
    assert a.dynamics.f == b.dynamics.f


def test_reduced_equations_too_large_are_refused_and_others_named():
    with pytest.raises(DerivationError, match="operations, more than 10") as refused:
        lagrange_reduced(tree_of("four_bar.lsd"), limit=10)
    assert "lagrange" in refused.value.hint


def test_a_position_must_name_every_coordinate():
    with pytest.raises(NamingError, match="position given for a coordinate"):
        lagrange_reduced(tree_of("four_bar.lsd"), at={"A": 0.0})


def test_formalisms_keep_parameters_as_symbols():
    made = [f(tree_of("elliptic_pendulum.lsd")) for f in (dalembert, kane, lie_group)]
    for equations in made:
        put = substitute(list(equations.dynamics.h), {symbol("m2"): ZERO})
        assert is_zero(*put)


@pytest.mark.parametrize(
    "formalism",
    [dalembert, lagrange, lambda tree: hamilton(tree, explicit=False), kane, boltzmann_hamel,
     gibbs_appell, lie_group],
)  # fmt: skip
def test_no_formalism_takes_three_times_the_operations_of_the_best_on_an_arm(formalism):
    def operations(made):
        M = made.dynamics.M
        return sum(count_operations([*(M[key] for key in M), *made.dynamics.f]).values())

    tree = tree_of("arm7.urdf")
    assert operations(formalism(tree)) <= 3 * operations(newton_euler(tree))
