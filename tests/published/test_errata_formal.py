"""Slips of PA in the language, the screw joint, ULYSSE's expression, screws and Ψ.

Each test is named in docs/errata.md: the corrected form agrees with ours, the printed one does not.
"""

import numpy as np
import pytest
from numpy.testing import assert_allclose

import liaison
from liaison.algebra import derivative, is_zero_by_components, matrix, scalar, tilde, vector
from liaison.equations.formalisms.lie_group import bracket, inertia_operator
from liaison.errors import LiaisonError
from liaison.spatial import bryant_xyz_of, rotation_bryant_xyz, rotation_z
from liaison.spatial.plucker import apply_inertia, cross_force

ROUNDING = 1e-12  # a few dozen operations on numbers near 1


@pytest.fixture
def random():
    return np.random.default_rng(19921113)


def numbers(array):
    return np.asarray(array, dtype=float)


def test_pa_the_first_joint_names_no_body(examples, tmp_path):
    """`S1.frame` stands where the body is called `satellite`."""
    text = (examples / "satellite.lsd").read_text(encoding="utf-8")
    printed = tmp_path / "printed.lsd"
    printed.write_text(text.replace("join satellite.frame", "join S1.frame"), encoding="utf-8")
    with pytest.raises(LiaisonError, match="S1"):
        liaison.read(printed)
    names = [x.name for x in liaison.read(examples / "satellite.lsd").bodies]
    assert {"satellite", "bras_primaire", "bras_secondeaire", "reflecteur"} < set(names)
    assert "bras_secondaire" not in names  # as the compiled form spells it


def screw_of_the_document(slide_by_pitch, R_i, R_ij, R_j, angles):
    """f₅ with its first product corrected, and as printed: cos(z) sin(y) for the first entry."""
    corrected = np.cos(slide_by_pitch) - R_i[:, 0] @ R_ij @ R_j[:, 0]
    _, y, z = angles
    slip = np.cos(z) * np.sin(y) - np.cos(z) * np.cos(y)
    return corrected, corrected - R_i[0, 0] * slip * R_j[0, 0]


@pytest.mark.parametrize("hand", [1, -1])
def test_pa_the_screw_is_told_by_a_cosine_only(random, hand):
    """f₅ vanishes for both hands; ours, pitch · sin(slide/pitch − angle), for one."""
    pitch, angle = 0.3, 0.8
    R_i, R_j = (numbers(rotation_bryant_xyz(*random.normal(size=3))) for _ in range(2))
    turned = numbers(rotation_z(angle))
    R_ij = R_i @ turned @ R_j.T
    slide = hand * pitch * angle
    first, second, third = bryant_xyz_of(R_ij)[:3]
    corrected, printed = screw_of_the_document(
        slide / pitch, R_i, R_ij, R_j, (first, second, third)
    )
    assert_allclose(corrected, 0, atol=ROUNDING)
    assert abs(printed) > 0.01
    advance = liaison.Helical(pitch).residual(turned, np.array([0, 0, slide]))[-1]
    assert (abs(float(advance)) < ROUNDING) == (hand == 1)


def expression_of_ulysse(second_rate):
    """The typed expression, its one `Thp1` being whatever is given."""
    rate, m = derivative(scalar("Theta1")), scalar("m10", constant=True)
    R, r, y = vector("R1"), vector("r10"), vector("y10")
    first = rate**2 * (R.T @ tilde(R) @ matrix("I10") @ R)
    second = m * (rate * second_rate) * (R.T @ tilde(r) @ tilde(R) @ tilde(R) @ y)
    row = m * (R.T @ tilde(r)) - m * (R.T @ tilde(y))
    turned = rate * (tilde(R) @ tilde(r)) - rate * (tilde(r) @ tilde(R))
    return -(first - second - rate * (row @ turned @ R))


def test_pa_one_rate_of_ulysse_has_another_name():
    """`Thp1` beside `THp1`: with two scalars the expression is not zero."""
    assert is_zero_by_components(expression_of_ulysse(derivative(scalar("Theta1"))))
    assert not is_zero_by_components(expression_of_ulysse(scalar("Thp1")))


def test_pa_momentum_is_resultant_first_in_the_bracket(random):
    """[v, H(v)] is the rate of momentum if H(v) = (p, σ), as v = (ω, v); (σ, p) is not."""
    A = random.normal(size=(3, 3))
    inertia = (2.0, random.normal(size=3), A @ A.T + 3 * np.eye(3))
    v = random.normal(size=6)
    momentum = numbers(apply_inertia(*inertia, v))  # (σ, p)
    wanted = numbers(cross_force(v, momentum))  # (ω × σ + v × p, ω × p)
    found = numbers(bracket(v, inertia_operator(inertia, v)))
    assert_allclose(np.r_[found[3:], found[:3]], wanted, atol=100 * ROUNDING)
    swapped = numbers(bracket(v, momentum))
    assert not np.allclose(swapped, wanted)
    assert not np.allclose(np.r_[swapped[3:], swapped[:3]], wanted)


def simplest(angles, sign=-1):
    """Δ of three bars; `sign` is that of λ₂ cos α₂."""
    (l1, l2, l3), (s, c) = (3, 4, 5), (np.sin(angles), np.cos(angles))
    return np.array([[l1 * s[0], l2 * s[1], l3 * s[2]], [-l1 * c[0], sign * l2 * c[1], -l3 * c[2]]])


def test_pa_psi_of_the_simplest_loop_needs_the_closure():
    """Its third column (1, 1, 1) is in the kernel where the bars close, and nowhere else."""
    closed = 0.3 + np.array([0, np.pi / 2, np.pi + np.arctan2(4, 3)])
    assert_allclose(simplest(closed) @ np.ones(3), 0, atol=10 * ROUNDING)
    assert not np.allclose(simplest(closed, sign=1) @ np.ones(3), 0)
    assert not np.allclose(simplest(np.add(closed, [0, 0.1, 0])) @ np.ones(3), 0)


def constant_velocity(a1, b, g, a4, l=2.0):
    (s1, c1), (sb, cb), (sg, cg), (s4, c4) = ((np.sin(x), np.cos(x)) for x in (a1, b, g, a4))
    together, apart = c1 * c4 + s1 * s4, -s1 * c4 + c1 * s4
    matrix = [
        [(-s1 * sb * cg - c1 * sg) * l, c1 * cb * cg * l, (-c1 * sb * sg - s1 * cg) * l, 0, 0],
        [(c1 * sb * cg - s1 * sg) * l, s1 * cb * cg * l, (-s1 * sb * sg + c1 * cg) * l, 0, 0],
        [0, -sb * cg * l, -cb * sg * l, 0, -1],
        [together * cb, apart * sb, 0, -together * cb, 0],
    ]
    return np.array(matrix) @ [cg, cb * sg, -sb * cg, cg, 0]


def test_pa_psi_of_the_constant_velocity_joint_needs_the_closure(random):
    """Δ Ψ = (0, 0, 0, −sin(α₁ − α₄) sin β₂ cos β₂ sin γ₂): only sin(α₁ − α₄) cos β₂ = 0 ends it."""
    a1, b, g, a4 = [0.4, 1.0, 0.7, 1.3] + 0.1 * random.normal(size=4)
    assert_allclose(constant_velocity(a1, b, g, a1), 0, atol=10 * ROUNDING)
    left = -np.sin(a1 - a4) * np.sin(b) * np.cos(b) * np.sin(g)
    assert_allclose(constant_velocity(a1, b, g, a4), [0, 0, 0, left], atol=10 * ROUNDING)
    assert abs(left) > 0.01


def test_pa_gausselim_lacks_a_case():
    """At x = 2, y = 1/2 the printed first case has a zero pivot; NumPy finds rank 2, not 3."""
    cases = liaison.gausselim("[[x, 1, 0], [0, 0, 1], [1, y, 1]]").cases
    assert [(len(case.conditions), case.rank) for case in cases] == [(2, 3), (2, 2), (1, 3)]
    assert np.linalg.matrix_rank([[2, 1, 0], [0, 0, 1], [1, 0.5, 1]]) == 2
