"""A scene as a kernel: its coordinates by name, and the entries that its steps call.

Public names: scene_kernel, pair_kernel.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

import numpy as np

from liaison.program import Entry, Kernel, Program, to_llvm
from liaison.program.extend import places_of
from liaison.program.kernel import MachineKernel
from liaison.program.llvm.trampolines import trampoline
from liaison.program.loops.compile import CompiledLoops, compile_loops
from liaison.program.loops.language import Loop
from liaison.program.pairs import pair_program
from liaison.units import Label

from .layout import PairEntries, World
from .parts import SceneModel
from .phases import energy_of_bodies, retract_bodies

ENTRIES: Mapping[str, Loop[..., Any]] = MappingProxyType(
    {"retract": retract_bodies, "energy": energy_of_bodies}
)
"""Loops of the entries of a scene."""

PLACE = (("x", "m"), ("y", "m"), ("z", "m"), ("qw", ""), ("qx", ""), ("qy", ""), ("qz", ""))
RATE = (
    ("wx", "rad/s"), ("wy", "rad/s"), ("wz", "rad/s"), ("vx", "m/s"), ("vy", "m/s"), ("vz", "m/s"),
)  # fmt: skip
SHOWN = (("contacts", ""), ("residual", ""), ("penetration", "m"))


@cache
def pair_kernel() -> Kernel:
    """The kernels of pairs as machine code, once a process."""
    kernel = to_llvm(pair_program())
    kernel.compile(*PairEntries.fields)
    return kernel


@cache
def _compiled() -> CompiledLoops:
    """The entries of scenes as machine code, once a process."""
    return compile_loops([retract_bodies, energy_of_bodies])


def scene_kernel(model: SceneModel) -> Kernel:
    """Coordinates of free bodies by name, and the entries that a run calls: `retract`, `energy`."""
    count = np.array([len(model.bodies.names)], dtype=np.int64)
    heavy = np.hstack([model.bodies.mass[:, None], model.bodies.inertia.reshape(-1, 9)])
    weights, gravity = (
        np.ascontiguousarray(heavy, dtype=float),
        np.array(model.gravity, dtype=float),
    )

    def compiler(names: tuple[str, ...]) -> tuple[Mapping[str, int], Any]:
        places = {"retract": [count], "energy": [count, gravity, weights]}
        codes = {}
        for name in names:
            loops = {name: _compiled().address(ENTRIES[name])}
            codes[name] = trampoline(loops, count, [x.ctypes.data for x in places[name]])
        return {name: codes[name][name] for name in names}, (codes, count, gravity, weights)

    program = _program(model)
    nq, nv = program.sizes["nq"], program.sizes["nv"]
    reads = {"retract": {"t": 0, "q": nq, "v": 0, "u": 0, "p": 0, "x": nv}}
    reads["energy"] = {"t": 0, "q": nq, "v": nv, "u": 0, "p": 0, "x": 0}
    return MachineKernel(program, compiler, lambda _: 0, reads=reads)


def _program(model: SceneModel) -> Program:
    """Names, sizes and labels of a scene; its entry is a loop over bodies."""
    names, planes = model.bodies.names, model.laws.names
    forces = tuple(f"{plane}.{x}" for plane in planes for x in "xyz")
    labels = {
        "q": tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in PLACE),
        "v": tuple(Label(f"{x}.{y}", unit) for x in names for y, unit in RATE),
        "u": (*(Label(*x) for x in SHOWN), *(Label(x, "N") for x in forces)),
    }
    sizes = {f"n{array}": len(x) for array, x in labels.items()}
    layout = (("q", sizes["nq"]),)
    return Program(
        name="scene",
        entries=MappingProxyType(
            {
                "retract": Entry.of_loop("retract", layout),
                "energy": Entry.of_loop("energy", (("T", 1), ("U", 1))),
            }
        ),
        inputs=places_of(labels),
        sizes=MappingProxyType({**sizes, "nc": 0, "np": 0, "nx": sizes["nv"]}),
        labels=MappingProxyType(labels),
        facts=MappingProxyType({"scene": model, "identity": _identity(model), "energy": _watched}),
    )


def _watched() -> tuple[str, str]:
    """The entry by which the balance of energy of a scene is kept."""
    return "energy", ""


def _identity(model: SceneModel) -> str:
    """A word that is the same for the same scene, in every process: numbers, names, layout."""
    digest = hashlib.sha256(World.text().encode())
    for part in (model, model.bodies, model.laws):
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, np.ndarray):
                digest.update(
                    f"{field.name} {value.shape} {value.dtype}".encode() + value.tobytes()
                )
            elif not is_dataclass(value):
                digest.update(f"{field.name} {value!r}".encode())
    return digest.hexdigest()
