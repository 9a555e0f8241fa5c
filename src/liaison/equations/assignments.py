"""The compiled form: bodies and equations as a list of assignments, written and read back.

    mu_2 := 0 ;   MIo_2_xx := 0 ;   w1 := cos(q_3) ;   M_1_2 := p_1*w1 ;   h_1 := … ;

The equations are M v̇ + h = τ + Gᵀ λ, G v̇ = γ, in symbols t, q_1, …, v_1, …, u_1, … and p_1, …,
whose names stand in the file. Exact numbers stay exact (0.1 is 1/10); a float has the suffix f. A
file is read and never executed: it can name nothing but what it has assigned, and the functions of
formulas.

Source: PA, LSD, compilation (mu, MIg and MOIo there are mu, MIg and MIo here).
Differs: matrices entry by entry, MIo in the axes of the body.

Public names: Assignments, assignments_of, read_assignments.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from liaison.errors import ArgumentError, DerivationError, NamingError
from liaison.expr import PI, Expr, Function, as_expr, evaluate, substitute, symbol, topological
from liaison.expr.bind import expanded
from liaison.expr.graph.node import Value
from liaison.expr.graph.ops import OPS
from liaison.expr.graph.row import ATOM, POWER, PRODUCT, SUM
from liaison.expr.parse import SIGNS, FormulaReader
from liaison.expr.reading.notation import Notation, Part, Written
from liaison.expr.reading.shared import listing
from liaison.expr.reading.text import TEXT
from liaison.lazy import Shown
from liaison.model import Mechanism
from liaison.units import Label

from .equations import Equations

ARRAYS = ("q", "v", "u", "p")
"""What formulas depend on, besides the time t."""


@final
@dataclass(frozen=True, slots=True, repr=False)
class Assignments(Shown):
    """Bodies and equations of a mechanism as named formulas.

    Attributes:
        name: of the mechanism.
        formalism: that the equations were derived by.
        bodies: names, in the order of their numbers.
        labels: of q, v, u, p and lam.
        values: of p; None where a parameter has no value.
        laws: names of unknown functions of one or more arguments.
        formulas: mu_1, VG_1_x, MIg_1_xx, MIo_1_xx, M_1_1, h_1, tau_1, Phi_1, G_1_1, gamma_1, ….
    """

    name: str
    formalism: str
    bodies: tuple[str, ...]
    labels: Mapping[str, tuple[Label, ...]]
    values: tuple[float | None, ...]
    laws: tuple[str, ...]
    formulas: Mapping[str, Expr]

    def evaluate(
        self,
        q: Sequence[float],
        v: Sequence[float],
        *,
        u: Sequence[float] = (),
        p: Sequence[float] | None = None,
        t: float = 0.0,
    ) -> dict[str, NDArray[np.float64]]:
        """M, h, tau, Phi, G and gamma at a state, as arrays, and the masses mu.

        Args:
            q: positions, in the order of the labels.
            v: velocities, likewise.
            u: inputs; zeros if not given.
            p: parameters; those of the file if not given.
            t: time [s].

        Raises:
            ArgumentError: a number too many or too few, or a parameter without a value.
        """
        known = [x for x in self.values if x is not None]
        parameters: Sequence[float] = known if p is None else p
        if p is None and len(known) < len(self.values):
            unknown = [x.name for x, y in zip(self.labels["p"], self.values) if y is None]
            raise ArgumentError(f"{', '.join(unknown)} have no value; give all parameters as p.")
        inputs = u or [0.0] * len(self.labels["u"])
        at = {symbol("t"): t}
        for part, values in zip(ARRAYS, (q, v, inputs, parameters), strict=True):
            if len(values) != len(self.labels[part]):
                raise ArgumentError(
                    f"{part} has {len(values)} numbers; it needs {len(self.labels[part])}."
                )
            at |= {symbol(f"{part}_{k}"): float(x) for k, x in enumerate(values, 1)}
        numbers = evaluate(list(self.formulas.values()), at)
        return self._shaped(dict(zip(self.formulas, map(float, numbers), strict=True)))

    def _shaped(self, numbers: Mapping[str, float]) -> dict[str, NDArray[np.float64]]:
        nv, nc = len(self.labels["v"]), len(self.labels["lam"])
        rows = sum(name.startswith("Phi_") for name in self.formulas)
        shapes: dict[str, tuple[int, ...]] = {
            "mu": (len(self.bodies),), "M": (nv, nv), "h": (nv,), "tau": (nv,), "Phi": (rows,),
            "G": (nc, nv), "gamma": (nc,),
        }  # fmt: skip
        arrays = {name: np.zeros(shape) for name, shape in shapes.items()}
        for name, value in numbers.items():
            head, *places = name.split("_")
            if head in arrays:
                arrays[head][tuple(int(x) - 1 for x in places)] = value
        return arrays

    def __str__(self) -> str:
        return _text(self)


# From equations ---------------------------------------------------------------------------------


def assignments_of(equations: Equations, mechanism: Mechanism) -> Assignments:
    """The compiled form of equations, and of the bodies of their mechanism.

    Raises:
        DerivationError: unilateral constraints, which have no place in it, or derivatives of
            unknown laws.
    """
    if equations.sides.blocks:
        raise DerivationError(
            f"{mechanism.name!r} has unilateral constraints; the compiled form has no such rows.",
            hint="`derive --format entries` prints them.",
        )
    formulas = _of_bodies(mechanism) | _of_motion(equations)
    symbols = equations.symbols
    names = {
        x: symbol(f"{part}_{k}")
        for part, those in zip(ARRAYS, (symbols.q, symbols.v, symbols.u, symbols.p), strict=True)
        for k, x in enumerate(those, 1)
    }
    plain = substitute(expanded([as_expr(x) for x in formulas.values()]), names)
    calls = [x for x in topological(plain) if x.op == "call"]
    if any(any(x.data[1]) for x in calls):
        raise DerivationError("a derivative of an unknown law has no name in the compiled form.")
    known = {x.name: x.value for x in mechanism.parameters}
    labels = {part: tuple(equations.labels.get(part, ())) for part in (*ARRAYS, "lam")}
    values = zip(labels["p"], equations.defaults["p"], strict=True)
    return Assignments(
        name=mechanism.name,
        formalism=equations.formalism,
        bodies=tuple(x.name for x in mechanism.bodies[1:]),
        labels=labels,
        values=tuple(None if known[x.name] is None else float(y) for x, y in values),
        laws=tuple(sorted({x.data[0].name for x in calls})),
        formulas=dict(zip(formulas, plain, strict=True)),
    )


def _of_bodies(mechanism: Mechanism) -> dict[str, Any]:
    """Mass, mass centre, and inertia about it and about the origin, body by body."""
    formulas: dict[str, Any] = {}
    for k, body in enumerate(mechanism.bodies[1:], 1):
        formulas[f"mu_{k}"] = body.mass
        formulas |= {f"VG_{k}_{x}": y for x, y in zip("xyz", body.com, strict=True)}
        moved = body.spatial_inertia.about((0, 0, 0))
        for name, tensor in (("MIg", body.inertia), ("MIo", moved)):
            formulas |= {
                f"{name}_{k}_{'xyz'[i]}{'xyz'[j]}": tensor[i][j] for i in range(3)
                for j in range(i, 3)
            }  # fmt: skip
    return formulas


def _of_motion(equations: Equations) -> dict[str, Any]:
    """M, h, τ, Φ, G and γ; zeros are left out."""
    dynamics, closures = equations.dynamics, equations.closures
    formulas: dict[str, Any] = {}
    for name, table in (("M", dynamics.M), ("G", closures.G)):
        for (i, j), x in sorted(table.items()):
            formulas[f"{name}_{i + 1}_{j + 1}"] = x
            if name == "M":
                formulas[f"{name}_{j + 1}_{i + 1}"] = x
    vectors = {"h": dynamics.h, "tau": dynamics.tau, "Phi": closures.phi, "gamma": closures.gamma}
    for name, entries in vectors.items():
        formulas |= {f"{name}_{k}": x for k, x in enumerate(entries, 1)}
    return {
        name: x
        for name, x in formulas.items()
        if name.startswith("Phi_") or as_expr(x) is not as_expr(0)
    }


# Written ----------------------------------------------------------------------------------------


@final
class _Notation(Notation):
    """Formulas as `read_assignments` takes them: plain functions, floats with the suffix f."""

    has_squares = False

    def __init__(self, laws: Sequence[str]) -> None:
        super().__init__()
        self.laws = {name: f"law_{k}" for k, name in enumerate(laws, 1)}

    def name(self, label: str) -> str:
        """A symbol."""
        return label

    def number(self, value: Value) -> Written:
        """A number in full."""
        written = TEXT.number(value)
        return Written(f"{written.text}f", written.rank) if type(value) is float else written

    def in_order(self, node: Expr, parts: Sequence[Part]) -> tuple[Sequence[Expr], Sequence[Part]]:
        """As they are, so that sums are read back in the order in which they are added."""
        return node.args, parts

    def least_ranks(self, op: str, args: Sequence[Expr]) -> Sequence[int] | None:
        """Brackets around every operation that does not stand on the left."""
        return _LEAST.get(op)

    def pattern(self, op: str) -> str:
        """Signs as in text, all else as a function."""
        if op == "call":
            return "{data}({})"
        return OPS[op].text if op in SIGNS else f"{op}({', '.join(['{}'] * OPS[op].arity)})"

    def data(self, op: str, data: Any) -> str:
        """The number of an unknown law."""
        return self.laws[data[0].name]


_LEAST = {
    "add": (SUM, PRODUCT), "sub": (SUM, PRODUCT), "neg": (POWER,), "mul": (PRODUCT, POWER),
    "div": (PRODUCT, POWER), "pow": (ATOM, ATOM),
}  # fmt: skip

_HEADS = {
    "bodies": "bodies: mass, mass centre in the body's frame, inertia about it, about the origin",
    "equations": "M v' + h = tau + G^T lambda, G v' = gamma; entries that are not written are zero",
}


def _text(x: Assignments) -> str:
    """The file."""
    parts = listing(list(x.formulas.values()), _Notation(x.laws))
    rows = dict(zip(x.formulas, parts.results, strict=True))
    in_bodies = {k: y for k, y in rows.items() if k.partition("_")[0] in ("mu", "VG", "MIg", "MIo")}
    lines = ["(* structure *)", f"NAME := {_quoted(x.name)} ;"]
    lines += [f"FORMALISM := {_quoted(x.formalism)} ;", f"N := {len(x.bodies)} ;"]
    lines += [_listed("BODIES", "S", x.bodies), "", "(* variables *)"]
    for part in (*ARRAYS, "lam"):
        lines.append(_listed(part, part, [str(label) for label in x.labels[part]]))
    unset = ["unknown" if y is None else repr(y) for y in x.values]
    lines += [f"VALUES := {', '.join(unset)} ;", _listed("LAWS", "law", x.laws)]
    lines += ["", "(* shared *)", *(f"{name} := {y} ;" for name, y in parts.assignments)]
    lines += ["", f"(* {_HEADS['bodies']} *)", *(f"{k} := {y} ;" for k, y in in_bodies.items())]
    lines += ["", f"(* {_HEADS['equations']} *)"]
    lines += [f"{name} := {y} ;" for name, y in rows.items() if name not in in_bodies]
    return "\n".join(lines) + "\n"


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _listed(title: str, letter: str, entries: Sequence[str]) -> str:
    inside = ", ".join(f"{letter}_{k} = {_quoted(x)}" for k, x in enumerate(entries, 1))
    return f"{title} := {inside} ;" if inside else f"{title} := ;"


# Read -------------------------------------------------------------------------------------------

_LABEL = re.compile(r"(.*?)(?: \[(.*)\])?")


def read_assignments(text: str, file: str = "text") -> Assignments:
    """The compiled form of a text that was written by `str(Assignments)`.

    Args:
        text: the assignments.
        file: its name, for messages.

    Raises:
        TextError: what is no assignment, or is missing.
        NamingError: a name that is not assigned before it is used.
    """
    return _Reader(text, file).result()


@final
class _Reader(FormulaReader):
    """The assignments of a text, read from first to last."""

    def __init__(self, text: str, file: str) -> None:
        super().__init__(text, file)
        self.known: dict[str, Expr] = {"t": symbol("t"), "pi": PI}
        self.lists: dict[str, list[str]] = {}
        self.formulas: dict[str, Expr] = {}

    def named(self, word: str, position: int) -> Expr:
        if word not in self.known:
            raise NamingError.unknown("quantity", word, self.known, place=self.place(position))
        return self.known[word]

    def applied(self, word: str, args: tuple[Expr, ...], position: int) -> Expr:
        laws = {f"law_{k}": x for k, x in enumerate(self.lists.get("LAWS", ()), 1)}
        if word in laws:
            return Function(laws[word], len(args))(*args)
        return self.plain(word, args, position)

    def result(self) -> Assignments:
        """All assignments."""
        while self.words[self.at][0] != "end":
            name = self.taken("name", "a name")
            self.taken(":=", f"':=' behind {name}")
            if name in _TITLES:
                self._strings(name)
            else:
                if name in self.formulas:
                    self.reject(f"{name} is assigned twice")
                self.formulas[name] = self.known[name] = self.sum()
            self.taken(";", "';' at the end of an assignment")
        missing = [x for x in _TITLES if x not in self.lists]
        if missing:
            self.reject(f"{', '.join(missing)} is not assigned")
        return self._assignments()

    def _assignments(self) -> Assignments:
        labels = {part: tuple(map(_label, self.lists[part])) for part in (*ARRAYS, "lam")}
        values = tuple(None if x == "unknown" else float(x) for x in self.lists["VALUES"])
        if len(values) != len(labels["p"]):
            self.reject(f"VALUES has {len(values)} numbers for {len(labels['p'])} parameters")
        heads = ("mu", "VG", "MIg", "MIo", "M", "h", "tau", "Phi", "G", "gamma")
        formulas = {k: x for k, x in self.formulas.items() if k.partition("_")[0] in heads}
        name, formalism = self.lists["NAME"][0], self.lists["FORMALISM"][0]
        bodies, laws = tuple(self.lists["BODIES"]), tuple(self.lists["LAWS"])
        result = Assignments(name, formalism, bodies, labels, values, laws, formulas)
        self._check_places(result)
        return result

    def _check_places(self, result: Assignments) -> None:
        """Raises an error for an entry outside its array."""
        nv, nc = len(result.labels["v"]), len(result.labels["lam"])
        most = {"M": (nv, nv), "h": (nv,), "tau": (nv,), "G": (nc, nv), "gamma": (nc,)}
        for name in result.formulas:
            head, *places = name.split("_")
            sizes = most.get(head, (len(result.bodies),) if head == "mu" else None)
            if sizes is None:
                continue
            inside = [x.isdigit() and 0 < int(x) <= n for x, n in zip(places, sizes)]
            if len(places) != len(sizes) or not all(inside):
                self.reject(f"{name} is outside its array of {' × '.join(map(str, sizes))}")

    def _strings(self, title: str) -> None:
        """A list of texts, or of numbers."""
        entries: list[str] = []
        while self.words[self.at][1] != ";" and self.words[self.at][0] != "end":
            kind, word, _ = self.words[self.at]
            if kind == "name" and word != "unknown":
                self.at += 1
                self.taken("=", f"'=' behind {word}")
                if title in ARRAYS:
                    self.known[word] = symbol(word)
                entries.append(self._string())
            else:
                sign = self.passed("-")
                entries.append(sign + self._string())
            if not self.passed(","):
                break
        self.lists[title] = entries

    def _string(self) -> str:
        kind, word, _ = self.words[self.at]
        if kind not in ("text", "number") and word != "unknown":
            self.reject(f"expected a text or a number, not {word!r}")
        self.at += 1
        return re.sub(r"\\(.)", r"\1", word[1:-1]) if kind == "text" else word.removesuffix("f")


_TITLES = ("NAME", "FORMALISM", "N", "BODIES", *ARRAYS, "lam", "VALUES", "LAWS")


def _label(text: str) -> Label:
    match = _LABEL.fullmatch(text)
    assert match is not None
    return Label(match[1], match[2] or "")
