"""looped_loops: forward dynamics of closed mechanisms of any size, as loops over index tables.

One kernel for each class of nodes and of closures, one elimination that is ordered once: ten
thousand bodies are ready in seconds, and where loops couple neighbours only, an answer costs the
same for each body however many there are. Unrolled code (newton_euler, to_llvm) is many times
faster where it can be compiled; see docs/performance.md.

Public names: looped_loops, LoopedLoops.
"""

from __future__ import annotations

from functools import cache
from typing import final

import numpy as np
from numpy.typing import ArrayLike

from liaison.equations.sweeps.sweeps import Blocks
from liaison.errors import ProgramError
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.program import Array

from .block_arrays import BlockArrays
from .block_layout import Work
from .block_loops import ROUNDING
from .sparse_entries import accelerations


def looped_loops(block_model: Blocks) -> LoopedLoops:
    """Forward dynamics of a tree and its closures, as loops: `looped_loops(blocks_of(tree))`."""
    return LoopedLoops(block_model)


@final
class LoopedLoops:
    """A closed mechanism that answers for its motion; use one object in each thread."""

    def __init__(self, block_model: Blocks) -> None:
        self.block_model = block_model
        self.arrays = BlockArrays(block_model)
        self._work = Work(np.zeros(self.arrays.work_size), self.arrays.system)

    def forward(
        self, q: ArrayLike, v: ArrayLike, tau: ArrayLike | None = None
    ) -> tuple[Array, Array]:
        """v̇ under τ and gravity, shape (nv,), and the multipliers of the closures' rows."""
        block_model, arrays = self.block_model, self.arrays
        state = [self._checked("q", q, block_model.nq), self._checked("v", v, block_model.nv)]
        force = (
            np.zeros(block_model.nv) if tau is None else self._checked("tau", tau, block_model.nv)
        )
        vdot, lam = np.zeros(block_model.nv), np.zeros(arrays.tables.nc + 1)
        run = _compiled()[accelerations]
        run(arrays.system, 0.0, *state, force, force, ROUNDING, vdot, lam, self._work)
        if not np.all(np.isfinite(vdot)):
            raise ProgramError(
                f"the accelerations of {block_model.name!r} are not finite.",
                hint="Look for a body without mass, or a position that is not finite.",
            )
        return vdot, lam[:-1]

    def _checked(self, name: str, x: ArrayLike, size: int) -> Array:
        array = np.ascontiguousarray(x, dtype=np.float64)
        if array.shape != (size,):
            raise ProgramError(
                f"{self.block_model.name!r} takes {size} numbers in {name!r}, not an array "
                f"of shape {array.shape}."
            )
        return array


@cache
def _compiled() -> CompiledLoops:
    """The loop, once a process."""
    return compile_loops([accelerations], optimize=3)
