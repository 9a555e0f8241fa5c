"""The document's constraint matrices, recomputed from the closures they come from."""

from itertools import product
from math import prod

import numpy as np
import pytest

from liaison.exact.residues import residues
from liaison.expr import as_expr, cos, evaluate, jacobian, sin, sqrt, symbol
from liaison.freedoms.engines.ideal import groebner, syzygies
from liaison.model import Composition, Revolute, Rotation, Translation
from liaison.model.describe import body, ground, join, mechanism, parameter
from liaison.spatial import array, compose
from liaison.spatial import product as applied
from liaison.tree import GROUND, Kinematics, span

from .cut_tree import CutTree
from .linkages import CASES, constant_velocity_joint


def angle(name):
    return symbol(name), cos(symbol(name)), sin(symbol(name))


def differences(closure, coordinates, printed):
    """Entries (row, column) at which the printed matrix is not the Jacobian, by residues."""
    entries = jacobian([as_expr(f) for f in closure], coordinates)
    found = []
    for i, row in enumerate(printed):
        for j, value in enumerate(row):
            change = as_expr(entries.get((i, j), as_expr(0)) - as_expr(value))
            if int(evaluate(change, domain=residues(seed=3))):
                found.append((i, j))
    return found


def simplest():
    l1, l2, l3 = (symbol(f"lambda{k}") for k in (1, 2, 3))
    (a1, c1, s1), (a2, c2, s2), (a3, c3, s3) = (angle(f"alpha{k}") for k in (1, 2, 3))
    closure = [-(l1 * c1 + l2 * c2 + l3 * c3), -(l1 * s1 + l2 * s2 + l3 * s3)]
    printed = [[0, 0, l1 * s1, l2 * s2, l3 * s3], [0, 0, -l1 * c1, l2 * c2, -l3 * c3]]
    return closure, [symbol("x"), symbol("y"), a1, a2, a3], printed


def connecting_rod():
    l1, l2, x = symbol("lambda1"), symbol("lambda2"), symbol("x")
    (a1, c1, s1), (a2, c2, s2) = angle("alpha1"), angle("alpha12")
    up, across = s1 * c2 + c1 * s2, c1 * c2 - s1 * s2
    closure = [l1 * c1 + l2 * cos(a1 + a2) - x, l1 * s1 + l2 * sin(a1 + a2)]
    printed = [[-l1 * s1 - l2 * up, -l2 * up, -1], [l1 * c1 + l2 * across, l2 * across, 0]]
    return closure, [a1, a2, x], printed


def salt_cellar():
    (a1, c1, s1), (a2, c2, s2), (a3, c3, s3) = (angle(f"alpha{k}") for k in (1, 2, 3))
    closure = [c2 - c3, s1 * s2, c1 * s2 - s3]
    printed = [[0, -s2, s3], [c1 * s2, s1 * c2, 0], [-s1 * s2, c1 * c2, -c3]]
    return closure, [a1, a2, a3], printed


def constant_velocity():
    l, z = symbol("l"), symbol("z")
    (a1, c1, s1), (b, cb, sb), (g, cg, sg), (a4, c4, s4) = (
        angle(name) for name in ("alpha1", "beta2", "gamma2", "alpha4")
    )
    closure = [
        l * (c1 * sb * cg - s1 * sg), l * (s1 * sb * cg + c1 * sg), l * cb * cg - z,
        sin(a1 - a4) * cb,
    ]  # fmt: skip
    together, apart = c1 * c4 + s1 * s4, -s1 * c4 + c1 * s4
    printed = [
        [(-s1 * sb * cg - c1 * sg) * l, c1 * cb * cg * l, (-c1 * sb * sg - s1 * cg) * l, 0, 0],
        [(c1 * sb * cg - s1 * sg) * l, s1 * cb * cg * l, (-s1 * sb * sg + c1 * cg) * l, 0, 0],
        [0, -sb * cg * l, -cb * sg * l, 0, -1],
        [together * cb, apart * sb, 0, -together * cb, 0],
    ]
    return closure, [a1, b, g, a4, z], printed


@pytest.mark.parametrize(
    ("case", "wrong"),
    [(simplest, [(1, 3)]), (connecting_rod, []), (salt_cellar, []), (constant_velocity, [])],
)
def test_printed_matrices_are_jacobians_but_for_one_sign(case, wrong):
    """44 of 45 entries are right; λ2 cos α2 of the simplest loop has the wrong sign."""
    closure, coordinates, printed = case()
    assert differences(closure, coordinates, printed) == wrong


# The same closures from mechanisms: bodies on the ground, joints in the document's order ---------


def placed(*joints):
    """Body -> (R, p) in the ground's axes, as formulas of the coordinates."""
    tree = span(mechanism(*joints), exact=True)
    q = array([symbol(label.name) for label in tree.position_labels()])
    kinematics = Kinematics(tree, q)
    found = {}
    for name, (node, (R, p)) in tree.frames.items():
        if node != GROUND:
            seen = kinematics.motion(GROUND, node)
            found[name] = compose(seen.R, seen.p, R, p)
    return found


def chain(name, labels, *motions):
    """A body that the ground carries by elementary motions, one coordinate each."""
    kind = Composition(tuple(motions))
    return join(ground, body(name, mass=1), kind, name=name, coordinates=tuple(labels))


def at(pose, point):
    R, p = pose
    return p + applied(R, array(list(point)))


def simplest_bars():
    """Three bars that turn about z; the closure is what their way leaves open."""
    bars = [chain(f"bar{k}", [f"alpha{k}"], Rotation("z")) for k in (1, 2, 3)]
    poses = placed(*bars)
    ends = [at(poses[f"bar{k}"], (symbol(f"lambda{k}"), 0, 0)) for k in (1, 2, 3)]
    return [-(ends[0][i] + ends[1][i] + ends[2][i]) for i in (0, 1)]


def rod_on_crank():
    """Crank and rod one after the other, against a slider along x."""
    l1, l2 = parameter("lambda1"), symbol("lambda2")
    crank, rod = body("crank", mass=1), body("rod", mass=1)
    poses = placed(
        l1,
        join(ground, crank, Revolute, name="alpha1"),
        join(crank.at((l1, 0, 0)), rod, Revolute, name="alpha12"),
        chain("slider", ["x"], Translation("x")),
    )
    gap = at(poses["rod"], (l2, 0, 0)) - poses["slider"][1]
    return list(gap[:2])


def creases():
    """The direction of the fourth crease, by the first two folds and by the third."""
    left = chain("left", ["alpha1", "alpha2"], Rotation((-1, 0, 0)), Rotation((0, -1, 0)))
    right = chain("right", ["alpha3"], Rotation((0, -1, 0)))
    poses = placed(left, right)
    return list(poses["left"][0][:, 0] - poses["right"][0][:, 0])


def cardan_shafts():
    """The end of the intermediate shaft on the output's axis, and its fork square to the cross."""
    turns = (Rotation("z"), Rotation("y"), Rotation((-1, 0, 0)))
    shaft = chain("shaft", ["alpha1", "beta2", "gamma2"], *turns)
    output = chain("output", ["alpha4", "z"], Rotation("z"), Translation("z"))
    poses = placed(shaft, output)
    gap = at(poses["shaft"], (0, 0, symbol("l"))) - poses["output"][1]
    x, y = poses["shaft"][0][:, 0], poses["output"][0][:, 1]
    return [*gap, x[0] * y[0] + x[1] * y[1] + x[2] * y[2]]


@pytest.mark.parametrize(
    ("built", "case", "wrong"),
    [
        (simplest_bars, simplest, [(1, 3)]),
        (rod_on_crank, connecting_rod, []),
        (creases, salt_cellar, []),
        (cardan_shafts, constant_velocity, []),
    ],
)
def test_mechanisms_give_the_printed_matrices_entry_by_entry(built, case, wrong):
    _, coordinates, printed = case()
    assert differences(built(), coordinates, printed) == wrong


def test_the_antennas_entry_is_a_component_of_a_cross_product():
    """24 printed terms are (√3/8)(2 sin B + sin A (3 cos B − 1)), A and B sums of three angles."""
    names = [["10", "21", "32"], ["76", "80", "87"]]
    A, B = ([angle(f"theta{k}") for k in group] for group in names)

    def expanded(group, odd):
        """sin (odd = 1) or cos (odd = 0) of the sum, as products."""
        total = 0
        for bits in product((0, 1), repeat=3):
            if sum(bits) % 2 == odd:
                sign = -1 if sum(bits) > 1 else 1
                total = total + sign * prod(g[2] if b else g[1] for g, b in zip(group, bits))
        return total

    sin_a, sin_b, cos_b = expanded(A, 1), expanded(B, 1), expanded(B, 0)
    printed = sqrt(3) / 8 * (2 * sin_b + 3 * sin_a * cos_b - sin_a)
    a, b = (sum((g[0] for g in group), start=0) for group in (A, B))
    short = sqrt(3) / 8 * (2 * sin(b) + sin(a) * (3 * cos(b) - 1))
    assert int(evaluate(as_expr(printed - short), domain=residues(seed=5))) == 0


# mesh: coordinates of the tree, cuts, rank off the variety, rank on it, mobility
MESHES = {
    "antenna_mesh": (8, 1, 5, 4, 3),
    "antenna_shared": (13, 2, 10, 8, 4),
    "antenna_double": (14, 4, 13, 10, 3),
}


@pytest.mark.parametrize("name", MESHES)
def test_the_ranks_of_antenna_meshes_in_the_documents_own_formulation(name):
    """Its 13 for a double mesh is the rank off the variety; 11 is the codimension, 14 − 3.

    The rank on the variety is neither: the closures are non-reduced there.
    """
    coordinates, cuts, free, on_variety, mobility = MESHES[name]
    tree = CutTree(CASES[name])
    assert (len(tree.tree), len(tree.cuts)) == (coordinates, cuts)
    for seed in (1, 2, 3):
        draw = np.random.default_rng(seed).normal(size=coordinates)
        assert tree.rank(dict(zip(tree.tree, draw.tolist(), strict=True))) == free
    assert tree.rank(dict.fromkeys(tree.tree, 0.0)) == on_variety
    assert CASES[name]["expected"]["mobility"] == mobility
    if name == "antenna_double":
        assert (free, coordinates - mobility) == (13, 11)


def test_the_constant_velocity_joint_turns_one_to_one():
    """On its variety the syzygies hold (1, 0, 0, 1, 0): the output turns as the input does."""
    formulas, point = constant_velocity_joint()
    c1, s1, cb, sb, cg, sg, c4, s4, _ = point
    l = 2
    together, apart = c1 * c4 + s1 * s4, -s1 * c4 + c1 * s4
    matrix = [
        [(-s1 * sb * cg - c1 * sg) * l, c1 * cb * cg * l, (-c1 * sb * sg - s1 * cg) * l, 0, 0],
        [(c1 * sb * cg - s1 * sg) * l, s1 * cb * cg * l, (-s1 * sb * sg + c1 * cg) * l, 0, 0],
        [0, -sb * cg * l, -cb * sg * l, 0, -1],
        [together * cb, apart * sb, 0, -together * cb, 0],
    ]
    found = syzygies(matrix, formulas, list(point))
    closure = groebner(formulas, list(point))
    ones = [1, 0, 0, 1, 0]
    assert any(
        all(closure.contains(as_expr(a) - b) for a, b in zip(column, ones, strict=True))
        for column in found
    )
