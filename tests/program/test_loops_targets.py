"""All loops compile for other processors as they are: no address of this process is in them."""

from __future__ import annotations

import ctypes
import importlib
import pkgutil
import re
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.analyse.along.maximal_run import sparse_ready
from liaison.errors import NamingError
from liaison.program.kernel import SIGNATURE
from liaison.program.llvm import machine, trampolines
from liaison.program.llvm.machine import Target, object_code_for
from liaison.program.llvm.trampolines import Trampoline, trampoline, trampoline_ir
from liaison.program.loops.language import Loop, f64, i64, iptr, loop, ptr
from liaison.program.loops.llvm import loops_ir
from liaison.program.loops.targets import TARGETS, loop_symbols, loops_object
from liaison.simulation.steps.advance import advance

MAGIC = {"wasm32": b"\0asm", "aarch64": b"\x7fELF", "thumb": b"\x7fELF"}
MACHINE = {"aarch64": 183, "thumb": 40}  # e_machine of an ELF file
EXAMPLES = Path(__file__).parents[2] / "examples"
CONSTANT_ADDRESS = r"inttoptr\s*\(|inttoptr i64 -?\d"


@pytest.fixture(scope="module")
def every_loop():
    """All loops of the package that have a name in a module; those of FMI are C's interface."""
    found = {}
    for module in pkgutil.walk_packages(liaison.__path__, "liaison."):
        if not module.name.endswith("__main__") and not module.name.startswith("liaison.fmi"):
            for value in vars(importlib.import_module(module.name)).values():
                if isinstance(value, Loop) and not value.is_external:
                    found[value] = None
    return list(found)


@pytest.fixture(scope="module")
def text(every_loop):
    """Their IR."""
    return loops_ir(every_loop)


def test_no_address_and_no_target_is_in_the_text_of_any_loop(every_loop, text):
    assert len(every_loop) > 500
    assert not re.search(CONSTANT_ADDRESS, text)
    assert "target triple" not in text
    assert "target datalayout" not in text
    # pointers are neither stored nor counted in bytes: their size is that of the target
    assert not re.search(r"load ptr, ptr %x|ptrtoint", text)


@pytest.mark.parametrize("name", TARGETS)
def test_every_loop_compiles_for_a_target_without_change(text, name):
    content = object_code_for(TARGETS[name], text, optimize=0)
    assert content.startswith(MAGIC[name])
    if name in MACHINE:
        assert int.from_bytes(content[18:20], "little") == MACHINE[name]
    for symbol in ("liaison_advance", "liaison_solve_cones", "liaison_solved_step"):
        assert symbol.encode() in content


def test_what_a_loop_leaves_out_is_the_mathematical_library_alone(text):
    """Beside functions of devices, which their modules define."""
    declared = set(re.findall(r"^declare double @([\w.]+)\(", text, re.M))
    of_devices = "lanes_most lanes_total inverse_of inverse_root kept_number give_row"
    estimates = "finite_inverse_root near_inverse near_inverse_root"
    names = {f"liaison_{x}" for x in [*of_devices.split(), *estimates.split()]}
    assert {x for x in declared if not x.startswith("llvm.")} <= set(machine.LIBM) | names


def test_an_object_for_a_target_is_made_once(tmp_path, monkeypatch):
    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path))

    @loop
    def double(n: i64, x: ptr) -> None:
        for i in range(n):
            x[i] = 2.0 * x[i]

    made = {name: loops_object([double], name) for name in TARGETS}
    assert len(set(made.values())) == len(list(tmp_path.iterdir())) == len(TARGETS)
    monkeypatch.setattr("liaison.program.loops.llvm.loops_ir", lambda roots: pytest.fail("again"))
    assert {name: loops_object([double], name) for name in TARGETS} == made
    assert loop_symbols([double]) == {"double": "liaison_double"}
    with pytest.raises(NamingError, match="did you mean 'wasm32'"):
        loops_object([double], "wasm23")
    own = Target("aarch64-apple-macosx", "apple-m1")
    assert object_code_for(own, loops_ir([double]))[:4] == b"\xcf\xfa\xed\xfe"


def test_the_march_is_one_entry_of_the_cache_for_all_models(tmp_path, monkeypatch):
    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path))
    first = loops_object([advance], "wasm32")
    assert len(list(tmp_path.iterdir())) == 1
    assert loops_object([advance], "wasm32") == first
    assert len(list(tmp_path.iterdir())) == 1


# trampolines


@loop
def shifted(
    table: ptr, n: iptr, t: f64, q: ptr, v: ptr, u: ptr, x: ptr, out: ptr, work: ptr
) -> None:
    out[0] = q[0] + table[n[0]] * t


def called(address: int, q: np.ndarray) -> float:
    out, none = np.zeros(1), np.zeros(1)
    rest = [none.ctypes.data] * 3
    SIGNATURE(address)(2.0, q.ctypes.data, *rest, none.ctypes.data, out.ctypes.data, rest[0])
    return float(out[0])


def test_a_trampoline_passes_what_lies_in_its_cell():
    from liaison.program import compile_loops

    code = compile_loops([shifted], cache=False)
    functions = {"entry": code.address(shifted)}
    tables = [np.array([1.0, 10.0]), np.array([5.0, 50.0])]
    numbers = np.array([1])
    made = [Trampoline(functions, 2, without=("p",)) for _ in tables]
    for one, table in zip(made, tables, strict=True):
        one.pass_on([table.ctypes.data, numbers.ctypes.data])
    q = np.array([0.5])
    assert [called(one["entry"], q) for one in made] == [20.5, 100.5]
    made[0].pass_on([tables[1].ctypes.data, numbers.ctypes.data])
    assert called(made[0]["entry"], q) == 100.5


def test_a_trampoline_is_used_again_when_its_owner_is_gone():
    class Owner:
        pass

    functions = {"entry": ctypes.cast(SIGNATURE(lambda *_: None), ctypes.c_void_p).value}
    owner, other = Owner(), Owner()
    first = trampoline(functions, owner, [1, 2])
    assert trampoline(functions, other, [3, 4]) is not first
    del owner
    assert trampoline(functions, other, [5, 6]) is first


@pytest.mark.parametrize("name", TARGETS)
def test_trampolines_have_no_address_and_compile_for_a_target(name):
    text = trampoline_ir(["rate", "closure"], 1)
    assert "inttoptr" not in text
    content = object_code_for(TARGETS[name], text)
    assert content.startswith(MAGIC[name])
    assert b"liaison_cell" in content


def test_no_text_that_is_compiled_for_contacts_or_many_bodies_has_an_address(tmp_path, monkeypatch):
    texts = []
    compiled = machine._object_code

    def seen(ir, *_):
        texts.append(ir)
        return compiled(ir, 0, False)

    monkeypatch.setenv("LIAISON_CACHE", str(tmp_path))
    monkeypatch.setattr(machine, "_object_code", seen)
    trampolines._FREE.clear()
    liaison.simulate(EXAMPLES / "contact" / "hopping_leg.lsd", until=0.01)
    kernel, _ = sparse_ready(liaison.read(EXAMPLES / "four_bar.lsd"))
    kernel.address("rate")
    assert [x for x in texts if "liaison_cell" in x]
    assert not [x for x in texts if re.search(CONSTANT_ADDRESS, x)]
