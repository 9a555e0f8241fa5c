"""Equations of motion, shown; their LaTeX and text come from `equations/readable/forms.py`.

Public names: title, page, latex, html, sympy, SympyEquations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, final

from liaison.equations.equations import Entries, Equations
from liaison.equations.readable.forms import as_latex, as_unicode
from liaison.equations.readable.pages import as_fragment, as_html
from liaison.equations.readable.readable import Readable, readable
from liaison.errors import needed
from liaison.expr.reading.reading import to_expr
from liaison.expr.reading.sympy import to_sympy
from liaison.lazy import Shown

from .page import Page, plural


def title(shown: Equations | Readable) -> str:
    """Mechanism and formalism, and how many equations."""
    count = len(shown.symbols.v if isinstance(shown, Equations) else shown.lines)
    return f"{shown.name}, by {shown.formalism.replace('_', ' ')}: {plural(count, 'equation')}"


def page(shown: Equations | Readable) -> Page:
    """The equations, simplified."""
    lines = _read(shown)
    head, _, text = as_unicode(lines).partition("\n")
    return Page(head, text=text, html=as_fragment(lines))


def latex(shown: Equations | Readable) -> str:
    """LaTeX of the equations, simplified."""
    return as_latex(_read(shown))


def html(shown: Equations | Readable) -> str:
    """A page of the equations, simplified."""
    return as_html(_read(shown))


def _read(shown: Equations | Readable) -> Readable:
    return readable(shown) if isinstance(shown, Equations) else shown


@final
@dataclass(frozen=True, slots=True, repr=False)
class SympyEquations(Shown):
    """M v̇ = f + Gᵀ λ, G v̇ = γ as matrices of SymPy; symbols are real and named by their labels.

    Attributes:
        equations: `Eq`, velocity by velocity, then row by row of the closures.
        M, f, G, gamma: matrices (nv, nv), (nv, 1), (nc, nv), (nc, 1).
        q, v, vdot, lam, u, p: symbols.
        t: time.
    """

    equations: list[Any]
    M: Any
    f: Any
    G: Any
    gamma: Any
    q: list[Any]
    v: list[Any]
    vdot: list[Any]
    lam: list[Any]
    u: list[Any]
    p: list[Any]
    t: Any


def sympy(shown: Equations | Readable) -> Any:
    """Matrices of SymPy; of a Readable its lines as a list of `Eq`."""
    with needed("sympy"):
        import sympy

    if isinstance(shown, Readable):
        sides = [(to_sympy(to_expr(x.left)), to_sympy(to_expr(x.right))) for x in shown.lines]
        return [sympy.Eq(left, right, evaluate=False) for left, right in sides]
    symbols, closures, n = shown.symbols, shown.closures, len(shown.symbols.v)
    lower = {(max(i, j), min(i, j)): x for (i, j), x in shown.dynamics.M.items()}
    M = _matrix(sympy, n, n, lower)
    M = M + M.T - sympy.diag(*[M[k, k] for k in range(n)])
    f = sympy.Matrix(n, 1, to_sympy(list(shown.dynamics.f)))
    G = _matrix(sympy, len(closures.gamma), n, closures.G)
    gamma = sympy.Matrix(len(closures.gamma), 1, to_sympy(list(closures.gamma)))
    names = {x: to_sympy(list(getattr(symbols, x))) for x in ("q", "v", "vdot", "lam", "u", "p")}
    vdot = sympy.Matrix(n, 1, names["vdot"])
    lam = sympy.Matrix(len(names["lam"]), 1, names["lam"])
    push = f + G.T * lam if names["lam"] else f
    rows = [sympy.Eq(a, b, evaluate=False) for a, b in zip(M * vdot, push, strict=True)]
    if len(closures.gamma):
        rows += [sympy.Eq(a, b, evaluate=False) for a, b in zip(G * vdot, gamma, strict=True)]
    return SympyEquations(rows, M, f, G, gamma, **names, t=to_sympy(symbols.t))


def _matrix(sympy: Any, rows: int, columns: int, entries: Entries) -> Any:
    matrix = sympy.zeros(rows, columns)
    for (i, j), x in entries.items():
        matrix[i, j] = to_sympy(x)
    return matrix
