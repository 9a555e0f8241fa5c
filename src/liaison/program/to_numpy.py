"""to_numpy: interpret a program on NumPy arrays; the reference for every other back end.

Public names: to_numpy, NumpyKernel.
"""

from __future__ import annotations

import ctypes
from collections.abc import Mapping
from typing import Any, final

import numpy as np

from liaison.arguments import checked
from liaison.expr import evaluate, symbols_of

from .kernel import SIGNATURE, Function, Kernel
from .program import Array, Program


@final
class NumpyKernel(Kernel):
    """Entries interpreted formula by formula; slow, plain, and vectorised over batch axes."""

    is_interpreted = True

    def __init__(self, program: Program) -> None:
        super().__init__(program)
        self.recipe = NumpyKernel, (program,)
        self._callbacks: dict[str, Any] = {}

    def work_size(self, entry: str) -> int:
        """0: an interpreted entry keeps its values itself."""
        self.program.entry(entry)
        return 0

    def function(self, entry: str) -> Function:
        """The entry as a Python function f(t, q, v, u, p, x, out, work) that fills `out`."""
        size = self.out_size(entry)
        self.program.schedule(entry)

        def run(t: float, *arrays: Array) -> None:
            named = dict(zip(("q", "v", "u", "p", "x"), arrays, strict=False))
            arrays[5][:size] = self._evaluate(entry, np.asarray(t), named)

        return run

    def address(self, entry: str) -> int:
        """Address of a callback into Python, so that compiled loops can run interpreted entries."""
        if entry not in self._callbacks:
            reads = self.program.reads(entry)
            sizes = [reads[name] for name in ("q", "v", "u", "p", "x")]
            run = self.function(entry)

            def callback(t: float, *addresses: int | None) -> None:
                views = map(_view, addresses, [*sizes, self.out_size(entry), 0])
                run(t, *views)

            self._callbacks[entry] = SIGNATURE(callback)
        return ctypes.cast(self._callbacks[entry], ctypes.c_void_p).value or 0

    def _evaluate(self, entry: str, t: Array, arrays: Mapping[str, Array]) -> Array:
        outputs = self.program.entry(entry).outputs
        self.program.schedule(entry)
        values = {}
        for symbol in symbols_of(outputs):
            array, index = self.program.inputs[symbol]
            values[symbol] = t if array == "t" else arrays[array][..., index]
        batch = np.broadcast_shapes(t.shape, *(a.shape[:-1] for a in arrays.values()))
        out = np.empty((*batch, len(outputs)))
        with np.errstate(all="ignore"):
            for k, value in enumerate(evaluate(outputs, values)):
                out[..., k] = value
        return out


@checked
def to_numpy(program: Program) -> NumpyKernel:
    """A kernel that interprets the program on arrays: what other back ends are compared with.

    Example:
        >>> import liaison
        >>> program = liaison.lower(liaison.derive("examples/pendulum.lsd"))
        >>> liaison.to_numpy(program)("mass_matrix", q=[0.3]).round(6)
        array([0.333333])
    """
    return NumpyKernel(program)


def _view(address: int | None, size: int) -> Array:
    if not address or not size:
        return np.empty(0)
    return np.ctypeslib.as_array((ctypes.c_double * size).from_address(address))
