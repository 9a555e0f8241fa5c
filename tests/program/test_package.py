"""The C package: compiled and linked by the system's compiler, it gives what the kernel gives."""

from __future__ import annotations

import ctypes
import re
import subprocess

import numpy as np
import pytest
from program_samples import require_c

from liaison.equations import newton_euler
from liaison.errors import ProgramError
from liaison.expr import as_expr, atan2, cos, exp, log, sin, sqrt, symbol, tan
from liaison.program import c_package, lower, to_llvm
from liaison.program.c import package as package_module
from liaison.program.c.compile_c import c_compiler
from liaison.program.program import Entry, Program
from liaison.tree import span
from samples.chains import chain

MAIN = """\
#include <stdio.h>
#include "{name}.h"
int main(void) {{
  double q[{N}_NQ], v[{N}_NV], out[{E}_OUT], work[{E}_WORK + 1];
  for (int k = 0; k < {N}_NQ; k++) {{ q[k] = 0.25 * k - 0.5; v[k] = 1.0 - 0.5 * k; }}
  {e}(0.0, q, v, 0, 0, 0, out, work);
  for (int k = 0; k < {E}_OUT; k++) printf("%.17g\\n", out[k]);
  return 0;
}}
"""
SAME = 1e-12  # compilers contract and call libm's sine; times the condition of a chain of four


@pytest.fixture(scope="module")
def program():
    return lower(newton_euler(span(chain(4))))


def expected(program):
    k = np.arange(4.0)
    return to_llvm(program, optimize=0)("forward", q=0.25 * k - 0.5, v=1.0 - 0.5 * k)


@pytest.mark.parametrize("part", ["source", "object"])
def test_a_program_in_c_gets_what_the_kernel_gives(program, part, tmp_path):
    require_c()
    made = c_package(program, tmp_path / "new", ["forward", "energy"])
    name, entry = made.header.stem, f"{made.header.stem}_forward"
    main = tmp_path / "main.c"
    main.write_text(MAIN.format(name=name, N=name.upper(), E=entry.upper(), e=entry))
    command = [c_compiler(), "-std=c99", "-Wall", "-Werror", "-pedantic", str(main)]
    command += [str(getattr(made, part)), f"-I{made.header.parent}", "-o", str(tmp_path / "main")]
    subprocess.run([*command, "-lm"], check=True)
    text = subprocess.run([tmp_path / "main"], check=True, capture_output=True, text=True).stdout
    found = [float(line) for line in text.split()]
    np.testing.assert_allclose(found, expected(program), rtol=SAME, atol=SAME)


@pytest.mark.parametrize("part", ["source", "object"])
def test_a_portable_package_has_the_bits_of_portable_code(part, tmp_path):
    """With functions of every kind, compiled for this processor, which could contract."""
    require_c()
    program = functions_of_all_kinds()
    made = c_package(program, tmp_path, ["f"], portable=True)
    library = tmp_path / "portable.so"
    flags = ["-O2", "-march=native", "-ffp-contract=off", "-shared", "-fPIC"]
    subprocess.run([c_compiler(), *flags, str(getattr(made, part)), "-o", str(library)], check=True)
    call = ctypes.CDLL(str(library))[f"{made.header.stem}_f"]
    call.argtypes = [ctypes.c_double, *[ctypes.c_void_p] * 7]
    call.restype = None
    kernel = to_llvm(program, portable=True)
    out, work = np.zeros(kernel.out_size("f")), np.zeros(kernel.work_size("f") + 1000)
    for q in np.random.default_rng(5).uniform(-3, 3, (200, 3)):
        call(0.0, q.ctypes.data, *[None] * 4, out.ctypes.data, work.ctypes.data)
        np.testing.assert_array_equal(out, kernel("f", q=q))


def functions_of_all_kinds() -> Program:
    """Formulas with sums of products and every elementary function."""
    x, y, z = map(symbol, "xyz")
    formulas = [
        x * y + y * z + sin(x) * cos(y), tan(x + y) + atan2(x, y) * z, exp(x * y - z),
        log(x * x + y * y + 1), (x * x + 1) ** as_expr(0.3) + sqrt(y * y + z * z) * sin(100000 * z),
    ]  # fmt: skip
    inputs = {s: ("q", k) for k, s in enumerate((x, y, z))}
    return Program("all_kinds", {"f": Entry("f", formulas, (("f", len(formulas)),))}, inputs,
                   sizes={"nq": 3})  # fmt: skip


def test_a_shared_library_is_linked(program, tmp_path):
    require_c()
    made = c_package(program, tmp_path, ["forward"], shared=True)
    call = ctypes.CDLL(str(made.library))[f"{made.header.stem}_forward"]
    call.argtypes = [ctypes.c_double, *[ctypes.c_void_p] * 7]
    call.restype = None
    k = np.arange(4.0)
    q, v, out, work = 0.25 * k - 0.5, 1.0 - 0.5 * k, np.zeros(5), np.zeros(1000)
    call(0.0, q.ctypes.data, v.ctypes.data, None, None, None, out.ctypes.data, work.ctypes.data)
    np.testing.assert_allclose(out, expected(program), rtol=SAME, atol=SAME)


def test_a_shared_library_is_refused_without_a_linker_before_anything_is_written(
    program, tmp_path, monkeypatch
):
    monkeypatch.setattr(package_module, "c_compiler", lambda: None)
    monkeypatch.setattr(package_module.shutil, "which", lambda name: None)
    with pytest.raises(ProgramError, match="needs a linker"):
        c_package(program, tmp_path / "new", ["forward"], shared=True)
    assert not (tmp_path / "new").exists()
    made = c_package(program, tmp_path / "new", ["forward"])
    assert made.library is None
    assert made.object.read_bytes()


def test_the_header_says_where_every_number_is(program, tmp_path):
    text = c_package(program, tmp_path, ["forward", "inverse"]).header.read_text()
    for array in ("q", "v"):
        for k, label in enumerate(program.labels[array]):
            assert f"{array}[{k}]  {label.name}" in text
    assert "out: vdot (4), residual (1)" in text
    assert "x: v' (nv)" in text
    assert int(re.search(r"_INVERSE_OUT (\d+)", text)[1]) == 4


def test_the_header_serves_cplusplus(program, tmp_path):
    require_c()
    made = c_package(program, tmp_path, ["forward"])
    user = tmp_path / "user.cpp"
    user.write_text(f'#include "{made.header.name}"\nint n = {made.header.stem.upper()}_NQ;\n')
    command = [c_compiler(), "-x", "c++", "-fsyntax-only", "-Wall", "-Werror", str(user)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if "cc1plus" in done.stderr:
        pytest.skip("no C++ compiler")
    assert not done.returncode, done.stderr


def test_files_are_the_same_each_time(program, tmp_path):
    first, second = (c_package(program, tmp_path / name, ["forward"]) for name in "ab")
    assert first.source.read_bytes() == second.source.read_bytes()
    assert first.object.read_bytes() == second.object.read_bytes()
    assert first.object.stat().st_size > 0
