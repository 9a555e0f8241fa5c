"""Loops of many-body kernels are portable: their code holds no address of this process."""

from __future__ import annotations

import re
import sys
from functools import cache
from pathlib import Path

import llvmlite.binding as llvm
import numpy as np
import pytest

import liaison
from liaison.analyse.along.maximal_run import sparse_ready
from liaison.analyse.compare.compare import repeated
from liaison.equations import blocks_of
from liaison.program import looped_loops
from liaison.program.llvm.machine import LIBM
from liaison.program.llvm.trampolines import trampoline_ir
from liaison.program.loops.llvm import loops_ir
from liaison.program.many.block_layout import System, Work
from liaison.program.many.looped import run_sweeps
from liaison.program.many.sparse_entries import ENTRIES, accelerations
from liaison.tree import assemble, span
from samples import chain

sys.path.insert(0, str(Path(__file__).parents[2] / "examples"))
from n_four_bar import n_four_bar

ARM = """
gravity = [0, 0, -9.81] m/s^2 ;
let a = body mass = 2 kg, center = [0.5, 0, 0] m, inertia = [0.01, 0.2, 0.2] kg*m^2 end ;
let b = body mass = 1 kg, center = [0.3, 0.1, 0] m, inertia = [0.01, 0.1, 0.1] kg*m^2 end ;
let A = join [0, 0, 2] m @ earth and a with revolute axis = [0, 1, 0] end ;
let B = join [1, 0, 0] m @ a and b with cylindrical axis = [1, 0, 0] end ;
apply spring stiffness = 80 N/m, rest = 30 cm end on [0.5, 0, 0] m @ a and [0, 0.4, 0] m @ b ;
apply damper coefficient = 0.2 N*m*s/rad end on A ;
impose B.slide = 0.1 m * sin(3 rad/s * t) ;
"""

TARGETS = ("wasm32-unknown-unknown", "aarch64-linux-gnu", "thumbv7em-none-eabihf")
ROOTS = {
    "entries": [*ENTRIES.values()],
    "accelerations": [accelerations],
    "sweeps": [run_sweeps],
    "repeated": [repeated],
}
TEXTS = {name: lambda roots=roots: loops_ir(roots) for name, roots in ROOTS.items()}
TEXTS["trampolines"] = lambda: trampoline_ir([*ENTRIES], 1, ("p",))


@cache
def machine(triple):
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(triple).create_target_machine(reloc="pic", opt=1)


@pytest.mark.parametrize("name", TEXTS)
def test_no_address_is_written_into_the_code(name):
    text = TEXTS[name]()
    assert not re.search(r"inttoptr\s*\(?\s*i64\s+-?\d", text)
    declared = set(re.findall(r"^declare \w+ @([\w.]+)\(", text, re.M))
    assert not {x for x in declared if not x.startswith("llvm.")} - set(LIBM)


@pytest.mark.parametrize("triple", TARGETS)
@pytest.mark.parametrize("name", TEXTS)
def test_the_code_compiles_for_other_targets(name, triple):
    module = llvm.parse_assembly(f'target triple = "{triple}"\n{TEXTS[name]()}')
    module.data_layout = str(machine(triple).target_data)
    module.verify()
    assert machine(triple).emit_object(module)


def test_kernels_of_two_mechanisms_share_code_and_not_their_tables():
    """The code of an entry is one text for all mechanisms; each is linked to its own system."""
    kernels = [sparse_ready(n_four_bar(n)) for n in (2, 3)]
    first = [kernel("energy", q=at.q, v=at.v) for kernel, at in kernels]
    again = [kernel("energy", q=at.q, v=at.v) for kernel, at in reversed(kernels)][::-1]
    np.testing.assert_array_equal(first, again)
    assert first[0][1] != first[1][1]


@cache
def ready(name):
    return sparse_ready(n_four_bar(2) if name == "four-bars" else liaison.read(ARM))


@pytest.mark.parametrize("name", ["four-bars", "arm"])
@pytest.mark.parametrize("entry", ENTRIES)
def test_entries_in_plain_python_are_the_compiled_ones(entry, name):
    """Bit for bit; there every array of a record ends where it ends, so that none reads on."""
    kernel, at = ready(name)
    _, arrays, _ = kernel._compiler((entry,))[1]
    nx = kernel.program.sizes["nx"]
    draw = np.random.default_rng(1)
    q = kernel("retract", q=at.q, v=at.v, x=1e-3 * draw.normal(size=nx))
    v, x, nothing = at.v + 1e-3 * draw.normal(size=at.v.size), draw.normal(size=nx), np.zeros(0)
    out, area = np.zeros(kernel.out_size(entry)), np.zeros(kernel.work_size(entry))
    ENTRIES[entry](arrays.system, 0.0, q, v, nothing, x, out, area)
    np.testing.assert_array_equal(out, kernel(entry, q=q, v=v, x=x))


def test_forward_dynamics_in_plain_python_is_the_compiled_one():
    for tree in (span(n_four_bar(2)), span(chain(3, skew=0.6))):
        made = looped_loops(blocks_of(tree))
        at = assemble(tree)
        v = at.v + 0.1
        vdot, lam = made.forward(at.q, v)
        system, zero = made.arrays.system, np.zeros(len(v))
        ours, held = np.zeros(len(v)), np.zeros(len(lam) + 1)
        work = Work(np.zeros(made.arrays.work_size), system)
        accelerations(system, 0.0, at.q, v, zero, zero, 1e-15, ours, held, work)
        np.testing.assert_array_equal(ours, vdot)
        np.testing.assert_array_equal(held[:-1], lam)


def test_what_a_system_holds_can_be_copied():
    """A copy is another system: nothing in it points into the first."""
    tree = span(n_four_bar(2))
    made = looped_loops(blocks_of(tree))
    copied = made.arrays.system.copy()
    assert isinstance(copied, System)
    assert not np.shares_memory(copied.ints, made.arrays.system.ints)
    at = assemble(tree)
    expected = made.forward(at.q, at.v)[0]
    made.arrays.system.ints[1:] = 0  # the first is gone
    made.arrays.system = copied
    made._work = Work(np.zeros(made.arrays.work_size), copied)
    np.testing.assert_array_equal(made.forward(at.q, at.v)[0], expected)
