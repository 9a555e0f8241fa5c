"""Slips of LL 2.2.10 and 4.4.2, NS and DC in the constrained linear system and its solutions.

Each test is named in docs/errata.md: the corrected form agrees with ours, the printed one does not.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.model.describe import body, coordinate, gravity, ground, join, mechanism, rate
from liaison.numeric.constrained import augmented, null_space, partition, projector, schur
from samples.joined import Motion, first

ROUNDING = 1e-12  # a few dozen operations on numbers near 1
DIFFERENCES = 1e-7  # second differences of fourth order, over steps of 1e-3


@pytest.fixture
def system():
    """M, C, S and c₁ of five coordinates and two constraints."""
    random = np.random.default_rng(20090218)
    A = random.normal(size=(5, 5))
    M = A @ A.T + 5 * np.eye(5)
    return M, random.normal(size=(2, 5)), random.normal(size=5), random.normal(size=2)


def bordered(M, C):
    return np.block([[M, C.T], [C, np.zeros((len(C), len(C)))]])


def test_ll_2_2_10_the_bordered_matrix_has_no_cholesky_factor(system):
    """It has one negative eigenvalue for each constraint, whatever M is."""
    M, C, S, c1 = system
    values = np.linalg.eigvalsh(bordered(M, C))
    assert ((values < 0).sum(), (values > 0).sum()) == (2, 5)
    with pytest.raises(np.linalg.LinAlgError):
        np.linalg.cholesky(bordered(M, C))
    found = augmented(M, C, S, c1)  # by L D Lᵀ
    assert_allclose(C @ found.a, c1, atol=10 * ROUNDING)


def test_ll_2_2_10_the_multipliers_by_the_complement_of_schur(system):
    """c₁ + S adds p numbers to m; with C M⁻¹ S in the place of S both signs would be wrong."""
    M, C, S, c1 = system
    drawn = C @ np.linalg.solve(M, S)
    inner = np.linalg.inv(C @ np.linalg.solve(M, C.T))
    found = schur(M, C, S, c1)
    assert_allclose(found.lam, inner @ (c1 - drawn), atol=100 * ROUNDING)
    assert_allclose(M @ found.a - C.T @ inner @ (c1 - drawn), S, atol=100 * ROUNDING)
    assert c1.shape != S.shape
    assert not np.allclose(found.lam, -inner @ (c1 + drawn))


def test_ll_2_2_10_the_third_resolution_finds_accelerations(system):
    """[NᵀM; C] q̈ = [NᵀS; c₁] is solved for q̈, which the text calls q̇: C q̇ is c₀."""
    M, C, S, c0 = system
    c1 = np.zeros(2)  # of C and c₀ that are constant
    N = np.linalg.svd(C)[2][2:].T
    found = np.linalg.solve(np.vstack([N.T @ M, C]), np.concatenate([N.T @ S, c1]))
    assert_allclose(found, null_space(M, C, S, c1).a, atol=100 * ROUNDING)
    assert not np.allclose(C @ found, c0)


def moving_kernel(t):
    """C(t), its pseudo-inverse, and an orthonormal kernel N(t) that is smooth."""
    C = (1 + t) * np.array([[np.cos(t), np.sin(t), 0.5 * t]])
    normal = C[0] / np.linalg.norm(C)
    across = np.array([-np.sin(t), np.cos(t), 0])
    sides = np.column_stack([across, np.cross(normal, across)])
    turn = np.array([[np.cos(t * t), -np.sin(t * t)], [np.sin(t * t), np.cos(t * t)]])
    return C, np.linalg.pinv(C), sides @ turn


def test_ll_2_2_10_the_rate_of_z_is_not_the_part_of_the_acceleration():
    """q̈ = C⁺ c₁ + N y with y ≠ ż: N and C⁺ move."""
    t0, h = 0.4, 1e-3
    times = t0 + h * np.arange(-2, 3)
    path = np.array([[1.0, -2.0, 0.5], [0.3, 1.0, -1.0], [0.7, 0.2, 0.4]])  # q = a t + b t² + c t³

    def q_dot(t):
        return path[0] + 2 * t * path[1] + 3 * t * t * path[2]

    q_ddot = 2 * path[1] + 6 * t0 * path[2]
    _, inverse, N = moving_kernel(t0)
    made = [moving_kernel(t) for t in times]
    c0 = [x[0] @ q_dot(t) for x, t in zip(made, times, strict=True)]
    c1 = first(c0, h) - first([x[0] for x in made], h) @ q_dot(t0)
    z = [x[2].T @ q_dot(t) for x, t in zip(made, times, strict=True)]
    y = N.T @ (q_ddot - inverse @ c1)
    drift = first([x[2] for x in made], h) @ z[2] + first([x[1] for x in made], h) @ c0[2]
    z_dot = first(z, h)
    assert_allclose(q_ddot, inverse @ c1 + N @ y, atol=DIFFERENCES)
    assert_allclose(z_dot, y - N.T @ drift, atol=DIFFERENCES)
    assert not np.allclose(z_dot, y, atol=0.1)
    assert not np.allclose(q_ddot, inverse @ c1 + N @ z_dot, atol=0.1)  # as printed


def columns_of(move, t):
    """The row of a point in a plane: its columns, and the velocities that go with them."""
    i, j = move.sides(t)
    return np.array(move.rows(t)[0].J), np.array([i.velocity, j.velocity, i.omega, j.omega])


def test_ll_4_4_2_the_rates_of_the_constraints():
    """J_A takes Ω, not Ω̇, in the first derivative, and −J̇_A Ω, not +J̇_A Ω̇, stands in Γ."""
    move, h = Motion(np.random.default_rng(9), liaison.PointOnPlane()), 1e-3
    path = [columns_of(move, x * h) for x in (-2, -1, 0, 1, 2)]
    J, w = path[2]
    J_dot, w_dot = first([x[0] for x in path], h), first([x[1] for x in path], h)
    straight, turning = slice(0, 2), slice(2, 4)
    assert_allclose((J * w).sum(), 0, atol=DIFFERENCES)
    assert not np.isclose(
        (J[straight] * w[straight]).sum() + (J[turning] * w_dot[turning]).sum(), 0
    )
    gamma = move.rows(0.0)[0].gamma
    moved = (J_dot[straight] * w[straight]).sum()
    assert_allclose(gamma, -moved - (J_dot[turning] * w[turning]).sum(), atol=DIFFERENCES)
    assert not np.isclose(gamma, -moved + (J_dot[turning] * w_dot[turning]).sum(), atol=1e-3)
    assert_allclose((J * w_dot).sum(), gamma, atol=DIFFERENCES)


def test_ll_4_4_2_the_multiplier_of_a_ball_is_what_the_ground_does():
    """A body hangs at rest: LL 4.5.1 has λ for the force of C_i on C_j, which is +m g."""
    bob = body("bob", mass=2, inertia=(1, 1, 1))
    hung = mechanism(join(ground, bob, liaison.Spherical, name="S"), gravity(0, 0, -9.81))
    kernel = liaison.to_numpy(liaison.lower(liaison.maximal(liaison.span(hung))))
    q, v = np.array([0, 0, 0, 1.0, 0, 0, 0]), np.zeros(6)
    lam, terms = (kernel.call(x, q=q, v=v) for x in ("forward", "terms"))
    assert_allclose(lam["lam"], [0, 0, 2 * 9.81], atol=10 * ROUNDING)
    M, G = terms["M"].reshape(6, 6), terms["G"].reshape(-1, 6)
    printed = np.linalg.solve(bordered(M, G), np.concatenate([terms["f"], terms["gamma"]]))
    assert_allclose(printed[:6], lam["vdot"], atol=ROUNDING)
    assert_allclose(printed[6:], -lam["lam"], atol=10 * ROUNDING)
    assert_allclose(M @ lam["vdot"], terms["f"] + G.T @ lam["lam"], atol=10 * ROUNDING)


@pytest.mark.parametrize("solve", [augmented, projector])
def test_ns_and_dc_the_sign_of_the_multipliers(system, solve):
    """A = Φᵀλ and τ_c = Kᵀλ are derived; the systems that follow have M q̈ + Φᵀλ = Q."""
    M, C, S, c1 = system
    found = solve(M, C, S, c1)
    assert_allclose(M @ found.a - S, C.T @ found.lam, atol=100 * ROUNDING)
    printed = np.linalg.solve(bordered(M, C), np.concatenate([S, c1]))
    assert_allclose(printed[:5], found.a, atol=100 * ROUNDING)
    assert_allclose(printed[5:], -found.lam, atol=100 * ROUNDING)


SPIN, NOW, OUT, FAR = 3.0, 0.2, 0.8, 0.5


def bead(tie):
    """A bead in the plane on a wire through the origin that turns."""
    plane = liaison.Composition((liaison.Translation("x"), liaison.Translation("y")))
    place = join(ground, body("bead", mass=2), plane, name="P", coordinates=("x", "y"))
    return liaison.compile(mechanism(place, tie, gravity(0, -9.81, 0)))


def wire(kind="holonomic"):
    s, c = liaison.sin(SPIN * liaison.time), liaison.cos(SPIN * liaison.time)
    x, y = coordinate("x"), coordinate("y")
    if kind == "holonomic":
        return liaison.holonomic("wire", x * s - y * c)
    return liaison.nonholonomic("wire", rate("x") * s - rate("y") * c + SPIN * (x * c + y * s))


def state():
    away = np.array([np.cos(SPIN * NOW), np.sin(SPIN * NOW)])
    across = np.array([-away[1], away[0]])
    return {"q": FAR * away, "v": OUT * away + SPIN * FAR * across, "t": NOW}


def derivatives():
    """Φ_q, Φ_qt, Φ_t and Φ_tt of x sin ωt − y cos ωt at the state."""
    s, c = np.sin(SPIN * NOW), np.cos(SPIN * NOW)
    x, y = state()["q"]
    return (
        np.array([s, -c]),
        SPIN * np.array([c, s]),
        SPIN * (x * c + y * s),
        -(SPIN**2) * (x * s - y * c),
    )


def test_ns_the_same_proof_as_with_holonomic_constraints():
    """A relation of rates and the relation of places it comes from give one λ and one motion."""
    held, rolled = (bead(wire(kind)).call("forward", **state()) for kind in ("holonomic", "other"))
    assert_allclose(held["vdot"], rolled["vdot"], rtol=10 * ROUNDING)
    assert_allclose(held["lam"], rolled["lam"], rtol=10 * ROUNDING)
    assert abs(held["lam"][0]) > 1


def test_ns_the_right_side_of_moving_constraints():
    """d/dt of Φ_t holds Φ_tq q̇ once more: −Φ_tt − Φ̇_q q̇ lacks it."""
    _, by_both, _, twice = derivatives()
    v = state()["v"]
    gamma = bead(wire()).call("terms", **state())["gamma"][0]
    assert_allclose(gamma, -2 * by_both @ v - twice, rtol=10 * ROUNDING)  # (Φ_q q̇)_q = 0 here
    assert not np.isclose(gamma, -twice - by_both @ v)


def test_ns_the_partition_of_moving_constraints():
    """q̇ = N q̇_in holds for Φ_t = 0 only, and q̈ needs γ rather than Ṅ q̇_in alone."""
    row, by_both, by_time, _ = derivatives()
    kernel = bead(wire())
    terms, v = kernel.call("terms", **state()), state()["v"]
    N = np.array([-row[1] / row[0], 1.0])
    assert_allclose(v, N * v[1] + [-by_time / row[0], 0], rtol=10 * ROUNDING)
    assert not np.allclose(v, N * v[1])
    found = partition(terms["M"].reshape(2, 2), row[None], terms["f"], terms["gamma"]).a
    assert_allclose(found, kernel.call("forward", **state())["vdot"], rtol=10 * ROUNDING)
    assert_allclose(found, N * found[1] + [terms["gamma"][0] / row[0], 0], rtol=10 * ROUNDING)
    N_dot = np.array([-by_both[1] / row[0] + row[1] * by_both[0] / row[0] ** 2, 0])
    assert not np.allclose(found, N * found[1] + N_dot * v[1])


def test_ns_the_projected_mass_matrix_has_no_inverse(system):
    """P M has rank n − n_c; P is oblique, and γ must be added for accelerations."""
    M, C, S, c1 = system
    inverse = np.linalg.inv(M)
    lever = C.T @ np.linalg.inv(C @ inverse @ C.T)
    P = np.eye(5) - lever @ C @ inverse
    assert_allclose(P @ P, P, atol=100 * ROUNDING)
    assert not np.allclose(P, P.T)
    assert np.linalg.matrix_rank(P @ M) == 5 - 2
    wanted = projector(M, C, S, c1).a
    assert_allclose(inverse @ (P @ S + lever @ c1), wanted, atol=100 * ROUNDING)
    assert_allclose(P @ M @ wanted, P @ S, atol=100 * ROUNDING)  # true, and not enough
    assert not np.allclose(np.linalg.pinv(P @ M) @ P @ S, wanted)


@pytest.mark.parametrize(
    ("closing", "constraints"),
    [(liaison.Revolute, 5), (liaison.Prismatic, 5), (liaison.PointOnPlane, 1)],
)
def test_dc_a_closure_counts_by_its_constraints(closing, constraints):
    """n_b = 1, n_q = 2, n_l = 1: a free body that a second joint holds has n − n_c freedoms."""
    held = body("held", mass=1, inertia=(1, 1, 1))
    joints = [join(ground, held, liaison.Free, name="on"), join(ground, held, closing, name="cut")]
    tree = liaison.span(mechanism(*joints), cuts=["cut"])
    kernel = liaison.to_numpy(liaison.lower(liaison.newton_euler(tree)))
    terms = kernel.call("terms", q=[0, 0, 0, 1.0, 0, 0, 0], v=np.zeros(6))
    n, n_c, freedoms_of_closure = 6, len(terms["gamma"]), closing().nv
    assert np.linalg.matrix_rank(terms["G"].reshape(n_c, n)) == n_c == constraints
    assert n - n_c == freedoms_of_closure  # nothing else holds the body
    assert n - freedoms_of_closure != freedoms_of_closure  # n_c as the text explains it
