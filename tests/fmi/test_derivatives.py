"""Derivatives of FMUs against differences in fifty digits."""

from __future__ import annotations

import ctypes
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest

from liaison.expr import topological
from liaison.formats import read
from liaison.program import Program
from liaison.verbs.ready import ready_for
from samples import some

ROOT = Path(__file__).parents[2]
DIGITS, STEP = 50, "1e-17"
BOUND = 1e-10  # asked for; rounding of the formulas in 16 digits leaves some 1e-13

OPS = {
    "add": lambda a, b: a + b, "sub": lambda a, b: a - b, "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b, "neg": lambda a: -a, "pow": lambda a, b: a**b,
    "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos, "tan": mpmath.tan,
    "atan2": mpmath.atan2, "asin": mpmath.asin, "acos": mpmath.acos, "exp": mpmath.exp,
    "abs": abs, "tanh": mpmath.tanh, "log": mpmath.log,
}  # fmt: skip


def _number(value: Any) -> Any:
    """A constant of a formula in many digits."""
    if str(value) == "pi":
        return +mpmath.pi
    exact = Fraction(value)
    return mpmath.mpf(exact.numerator) / exact.denominator


class Exact:
    """Entries of a program in many digits, and the motion that its terms say."""

    def __init__(self, program: Program) -> None:
        self.program = program
        self.sizes = {x: len(program.labels.get(x, ())) for x in "qvup"}

    def entry(self, name: str, state: dict[str, Any]) -> dict[str, list[Any]]:
        """Blocks of an entry."""
        entry = self.program.entry(name)
        known = {
            x: state[array][k] for x, (array, k) in self.program.inputs.items() if array in "qvup"
        }
        known |= {x: mpmath.mpf(0) for x, (a, _) in self.program.inputs.items() if a == "t"}
        for node in topological(list(entry.outputs)):
            if node in known:
                continue
            if node.op == "const":
                known[node] = _number(node.value)
            else:
                known[node] = OPS[node.op](*(known[x] for x in node.args))
        values, blocks, place = [known[x] for x in entry.outputs], {}, 0
        for word, count in entry.layout:
            blocks[word] = values[place : place + count]
            place += count
        return blocks

    def accelerations(self, state: dict[str, Any]) -> Any:
        """v̇ of M v̇ − Gᵀ λ = f, G v̇ = γ, by elimination with pivots."""
        x, n = self.entry("terms", state), self.sizes["v"]
        rows = len(x["gamma"])
        A = mpmath.zeros(n + rows)
        for i in range(n):
            for j in range(n):
                A[i, j] = x["M"][i * n + j]
            for k in range(rows):
                A[n + k, i], A[i, n + k] = x["G"][k * n + i], -x["G"][k * n + i]
        right = mpmath.matrix([*x["f"], *x["gamma"]])
        return list(mpmath.lu_solve(A, right)[:n])

    def results(self, state: dict[str, Any]) -> Any:
        """q̇, v̇ and outputs."""
        outputs = self.entry("outputs", state) if self.program.entry("outputs").outputs else {}
        listed = [*self.entry("qdot", state)["qdot"], *self.accelerations(state)]
        return mpmath.matrix([*listed, *(x for block in outputs.values() for x in block)])

    def slope(self, function: Any, state: dict[str, Any], along: dict[str, Any]) -> Any:
        """The derivative of a function of the state along a direction."""
        h = mpmath.mpf(STEP)
        values = []
        for sign in (1, -1):
            near = {x: [y + sign * h * d for y, d in zip(state[x], along[x], strict=True)]
                    for x in state}  # fmt: skip
            values.append(mpmath.matrix(function(near)))
        return (values[0] - values[1]) / (2 * h)

    def kept(self, state: dict[str, Any], along: dict[str, Any]) -> dict[str, Any]:
        """The direction nearest to one along which closures hold."""
        n = self.sizes["v"]
        for word, array in (("phi", "q"), ("rate", "v")):
            rows = dict(self.program.entry("closure").layout).get(word, 0)
            if rows:
                missing = self.slope(lambda x, w=word: self.entry("closure", x)[w], state, along)
                G = mpmath.matrix(rows, n)
                for k, x in enumerate(self.entry("terms", state)["G"][: rows * n]):
                    G[k // n, k % n] = x
                change = G.T * mpmath.lu_solve(G * G.T, -missing)
                step = self.turned(state, list(change)) if array == "q" else change
                along = along | {array: [x + y for x, y in zip(along[array], step, strict=True)]}
        return along

    def turned(self, state: dict[str, Any], rates: list[Any]) -> list[Any]:
        """N(q) ξ: how coordinates change with local ones; attitudes keep their length."""
        return self.entry("qdot", state | {"v": rates})["qdot"]


def begun(fmu: Any, version: int) -> Any:
    fmu.instantiate()
    if version == 2:
        fmu.setupExperiment(startTime=0.0)
        fmu.enterInitializationMode()
    else:
        fmu.enterInitializationMode(startTime=0.0)
    fmu.exitInitializationMode()
    return fmu


def of_fmu(fmu: Any, version: int, *arrays: list[str]) -> list[Any]:
    getter = fmu.getReal if version == 2 else fmu.getFloat64
    return [list(getter([fmu.references[x] for x in names])) if names else [] for names in arrays]


@pytest.mark.parametrize(
    ("name", "version"), some([("four_bar", 2), ("slider_crank", 3), ("double_wishbone", 2)], 2)
)
def test_directional_derivatives_have_ten_digits(opened: Any, name: str, version: int) -> None:
    kernel, _ = ready_for(read(ROOT / "examples" / f"{name}.lsd"), None, None, None)
    exact, labels = Exact(kernel.program), kernel.program.labels
    names = {x: [label.name for label in labels.get(x, ())] for x in "qvup"}
    fmu = begun(opened(name, version, "ME"), version)
    numbers = of_fmu(fmu, version, *names.values())
    rng = np.random.default_rng(7)
    with mpmath.workdps(DIGITS):
        state = {x: [mpmath.mpf(y) for y in row] for x, row in zip("qvup", numbers, strict=True)}
        along = {x: [mpmath.mpf(y) for y in rng.normal(size=len(state[x]))] for x in state}
        along["q"] = exact.turned(state, [mpmath.mpf(y) for y in rng.normal(size=len(state["v"]))])
        along = exact.kept(state, along)
        expected = np.array([float(x) for x in exact.slope(exact.results, state, along)])
    unknowns = [f"der({x})" for x in (*names["q"], *names["v"])]
    unknowns += [x for x, count in kernel.program.entry("outputs").layout if count]
    knowns = [x for row in names.values() for x in row]
    slope = fmu.getDirectionalDerivative(
        [fmu.references[x] for x in unknowns], [fmu.references[x] for x in knowns],
        [float(x) for row in along.values() for x in row],
    )  # fmt: skip
    assert np.max(np.abs(slope - expected)) < BOUND * np.max(np.abs(expected))


def rolling(sigma: Any, rate: Any) -> tuple[Any, Any, Any]:
    """State x, z, turn, x', z', turn' of a ball on a cosine track, and its x'', z'', turn''.

    C(σ) is the path of its center, 7/10 |C'|² σ̇² its kinetic energy and g C_z the potential one,
    each over its mass.
    """
    r, depth, wave, g = (mpmath.mpf(x) for x in ("0.05", "0.1", "0.2", "9.81"))

    def center(s: Any) -> Any:
        slope = depth / wave * mpmath.sin(s / wave)
        steep = mpmath.sqrt(1 + slope**2)
        return mpmath.matrix([s - r * slope / steep, -depth * mpmath.cos(s / wave) + r / steep])

    h = mpmath.mpf("1e-12")
    ahead, behind, here = center(sigma + h), center(sigma - h), center(sigma)
    first, second = (ahead - behind) / (2 * h), (ahead - 2 * here + behind) / h**2
    length = mpmath.norm(first)
    product = first[0] * second[0] + first[1] * second[1]
    bend = -(product * rate**2 + g * first[1] * mpmath.mpf(5) / 7) / length**2
    turn = (length * bend + product / length * rate**2) / r
    change = second * rate**2 + first * bend
    state = [*here, 0, *(first * rate), length * rate / r]
    return state, [*change, turn], length


def test_derivatives_hold_in_a_mode_of_contact(opened: Any) -> None:
    fmu = begun(opened("contact/cosine_track", 3, "ME"), 3)
    fmu.updateDiscreteStates()
    fmu.enterContinuousTimeMode()
    with mpmath.workdps(DIGITS):
        sigma, rate, h = mpmath.mpf("0.21"), mpmath.mpf("-0.3"), mpmath.mpf("1e-8")
        along = (mpmath.mpf("0.7"), mpmath.mpf("-1.1"))
        near = [rolling(sigma + k * h * along[0], rate + k * h * along[1]) for k in (1, -1)]
        seed, expected = ([(x - y) / (2 * h) for x, y in zip(*rows, strict=True)]
                          for rows in ([x[0] for x in near], [x[1] for x in near]))  # fmt: skip
        state = [float(x) for x in rolling(sigma, rate)[0]]
    fmu.setContinuousStates((ctypes.c_double * 6)(*state), 6)
    names = ["F.xz", "F.turn", "F.xz'", "F.turn'"]
    unknowns, knowns = [f"der({x})" for x in names[2:]], names
    truth, along = (np.array([float(x) for x in row]) for row in (expected, seed))
    slope = arrays_of(fmu, "Directional", unknowns, knowns, along, 3)
    assert np.max(np.abs(slope - truth)) < BOUND * np.max(np.abs(truth))
    weights = np.array([0.3, -1.2, 0.8])
    backward = arrays_of(fmu, "Adjoint", unknowns, knowns, weights, 6)
    assert backward @ along == pytest.approx(weights @ truth, rel=1e-9)


def arrays_of(
    fmu: Any, word: str, unknowns: list[str], knowns: list[str], seed: Any, count: int
) -> Any:
    """A derivative of array variables, which fmpy's own call does not have."""
    room = (ctypes.c_double * count)()
    lists = [
        (ctypes.c_uint32 * len(x))(*(fmu.references[y] for y in x)) for x in (unknowns, knowns)
    ]
    status = getattr(fmu.dll, f"fmi3Get{word}Derivative")(
        ctypes.c_void_p(fmu.component), lists[0], ctypes.c_size_t(len(unknowns)), lists[1],
        ctypes.c_size_t(len(knowns)), (ctypes.c_double * len(seed))(*seed),
        ctypes.c_size_t(len(seed)), room, ctypes.c_size_t(count),
    )  # fmt: skip
    assert status == 0
    return np.array(room)
