"""Shared libraries of five systems: what is in them, and that they compute where they can run."""

from __future__ import annotations

import ctypes
import hashlib
import mmap
import os
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import liaison
from liaison.errors import NamingError, ProgramError
from liaison.program.libraries.link import patched
from liaison.program.libraries.modules import (
    entries_module,
    inner_module,
    loops_module,
)
from liaison.program.libraries.package import PLACES, library_package
from liaison.program.libraries.shared_library import SYSTEMS, separate, shared_library
from liaison.program.loops.language import at, f64, i64, kernel, loop, ptr

EXAMPLES = Path(__file__).parents[2] / "examples"
EVERY = [*SYSTEMS, "macos"]
TEXT = """
@__imp_calloc = external global ptr
@__imp_free = external global ptr
@table = internal constant [2 x ptr] [ptr @lower, ptr @whole]
@count = internal global i64 5
@room = internal global [1000 x i64] zeroinitializer
declare double @llvm.floor.f64(double)
declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
define double @lower(double %x) nounwind {
  %y = call double @llvm.floor.f64(double %x)
  ret double %y
}
define double @whole(double %x) nounwind {
  %y = fmul double %x, 2.5
  ret double %y
}
define double @chosen(double %x, i64 %k) nounwind {
  %place = getelementptr [2 x ptr], ptr @table, i64 0, i64 %k
  %f = load ptr, ptr %place
  %y = call double %f(double %x)
  ret double %y
}
define i64 @counted() nounwind {
  %n = load i64, ptr @count
  %m = add i64 %n, 1
  store i64 %m, ptr @count
  %place = getelementptr [1000 x i64], ptr @room, i64 0, i64 999
  %z = load i64, ptr %place
  %s = add i64 %m, %z
  ret i64 %s
}
define i64 @large(i64 %k) nounwind {
  %frame = alloca [3000 x i64]
  call void @llvm.memset.p0.i64(ptr %frame, i8 3, i64 24000, i1 false)
  %place = getelementptr [3000 x i64], ptr %frame, i64 0, i64 %k
  %n = load i64, ptr %place
  ret i64 %n
}
define i64 @taken(i64 %size) nounwind {
  %calloc = load ptr, ptr @__imp_calloc
  %memory = call ptr %calloc(i64 %size, i64 8)
  %place = getelementptr i64, ptr %memory, i64 7
  %n = load i64, ptr %place
  %free = load ptr, ptr @__imp_free
  call void %free(ptr %memory)
  ret i64 %n
}
define i64 @unused() nounwind {
  %n = call i64 @counted()
  ret i64 %n
}
"""
EXPORTS = ["chosen", "counted", "large", "taken"]
THREES = 0x0303030303030303


@loop
def rk4(entry: kernel, steps: i64, h: f64, state: ptr, p: ptr, out: ptr, work: ptr) -> None:
    """Steps of a mechanism with one coordinate; the first output is its acceleration."""
    for _ in range(steps):
        q = state[0]
        v = state[1]
        sum_q = 0.0
        sum_v = 0.0
        a = 0.0
        b = 0.0
        for stage in range(4):
            c = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            weight = 2.0 if stage == 1 or stage == 2 else 1.0
            state[2] = q + c * h * a
            state[3] = v + c * h * b
            entry(0.0, at(state, 2), at(state, 3), p, p, p, out, work)
            a = state[3]
            b = out[0]
            sum_q += weight * a
            sum_v += weight * b
        state[0] = q + h / 6.0 * sum_q
        state[1] = v + h / 6.0 * sum_v


def run_module(work: int) -> str:
    """`run(steps, h, state, p)`: the loop with the entry."""
    return f"""
declare void @entry(double, ptr, ptr, ptr, ptr, ptr, ptr, ptr)
declare void @liaison_rk4(ptr, i64, double, ptr, ptr, ptr, ptr)
define void @run(i64 %steps, double %h, ptr %state, ptr %p) nounwind {{
  %out = alloca [16 x double]
  %work = alloca [{max(1, work)} x double]
  call void @liaison_rk4(ptr @entry, i64 %steps, double %h, ptr %state, ptr %p, ptr %out, ptr %work)
  ret void
}}
"""


@pytest.fixture(scope="module")
def pendulum():
    """Program, and modules of a library that runs it."""
    program = liaison.lower(liaison.derive(EXAMPLES / "pendulum.lsd"))
    text, works = entries_module(program, {"forward": "entry"})
    return program, [text, run_module(works["forward"]), loops_module([rk4])]


@pytest.fixture
def loaded(tmp_path):
    """Loads the bytes of a library here."""

    def load(content):
        file = tmp_path / "made.so"
        file.write_bytes(content)
        return ctypes.CDLL(str(file))

    return load


def test_a_library_is_loaded_and_computes(loaded):
    library = loaded(shared_library([TEXT], "linux-x86_64", EXPORTS))
    library.chosen.restype = ctypes.c_double
    chosen = lambda x, k: library.chosen(ctypes.c_double(x), ctypes.c_int64(k))  # noqa: E731
    assert [chosen(x, 0) for x in (1.5, -1.5, -0.0, 2.0**60)] == [1.0, -2.0, 0.0, 2.0**60]
    assert chosen(-3.0, 1) == -7.5
    assert [library.counted(), library.counted()] == [6, 7]
    library.large.restype = ctypes.c_int64
    assert library.large(ctypes.c_int64(2999)) == THREES
    assert library.taken(ctypes.c_int64(10)) == 0
    with pytest.raises(AttributeError):
        _ = library.unused


def test_what_exports_do_not_need_is_left_out():
    small = shared_library([TEXT], "linux-x86_64", ["counted"])
    assert b"calloc" not in small
    assert len(small) < len(shared_library([TEXT], "linux-x86_64", EXPORTS))


POOLED = """
define double @{name}(double %x) nounwind {{
  %y = fmul double %x, {first}
  %z = fadd double %y, {second}
  ret double %z
}}
"""


@pytest.mark.parametrize("system", SYSTEMS)
def test_constants_are_kept_once_and_only_where_they_are_read(system):
    pi, e, unread = 3.14159, 2.71828, 1.61803
    modules = [
        POOLED.format(name="a", first=pi, second=e) + POOLED.format(name="b", first=e, second=1.5),
        POOLED.format(name="c", first=pi, second=1.5) + POOLED.format(name="d", first=e,
                                                                      second=unread),
    ]  # fmt: skip
    library = shared_library(modules, system, ["a", "b", "c"])
    assert [library.count(struct.pack("<d", x)) for x in (pi, e, unread)] == [1, 1, 0]


def test_constants_that_are_merged_stay_what_they_are(loaded):
    text = POOLED.format(name="a", first=3.25, second=0.7) + POOLED.format(
        name="b", first=0.7, second=0.1
    )
    other = POOLED.format(name="c", first=0.1, second=3.25)
    library = loaded(shared_library([text, other], "linux-x86_64", ["a", "b", "c"]))
    for name, first, second in (("a", 3.25, 0.7), ("b", 0.7, 0.1), ("c", 0.1, 3.25)):
        function = getattr(library, name)
        function.restype, function.argtypes = ctypes.c_double, [ctypes.c_double]
        assert function(1.3) == 1.3 * first + second


OUTER = """
declare x86_64_sysvcc double @inside(double, i64)
define double @outside(i64 %k, double %x) nounwind {
  %y = call x86_64_sysvcc double @inside(double %x, i64 %k)
  ret double %y
}
"""
INSIDE = """
define double @inside(double %x, i64 %k) nounwind {
  %room = alloca [2000 x double]
  %place = getelementptr [2000 x double], ptr %room, i64 0, i64 %k
  store volatile double %x, ptr %place
  %y = load volatile double, ptr %place
  %z = fmul double %y, 0.7
  ret double %z
}
"""


@pytest.mark.parametrize("system", EVERY)
def test_inner_code_is_the_same_on_all_systems_of_a_processor(system):
    library = shared_library([OUTER, inner_module(INSIDE)], system, ["outside"])
    touched = b"\x48\x81\xec\x00\x10\x00\x00"  # sub rsp, 4096: one page of the stack, then the next
    assert (touched in library) == (not system.endswith(("arm64", "aarch64")))


def test_inner_code_is_called_with_its_own_convention(loaded):
    modules = [OUTER, inner_module(INSIDE)]
    library = loaded(shared_library(modules, "linux-x86_64", ["outside"]))
    library.outside.restype = ctypes.c_double
    library.outside.argtypes = [ctypes.c_int64, ctypes.c_double]
    assert library.outside(1999, 3.0) == 3.0 * 0.7


@pytest.mark.parametrize("system", EVERY)
def test_names_that_nothing_defines_are_refused(system):
    text = "declare double @erf(double)\n@__imp_system = external global ptr\n"
    text += "define double @f(double %x) {\n  %y = call double @erf(double %x)\n"
    text += "  %s = load ptr, ptr @__imp_system\n  call void %s()\n  ret double %y\n}\n"
    with pytest.raises(ProgramError, match=r"nothing defines __imp_system, erf"):
        shared_library([text], system, ["f"])


def test_errors_name_exports_and_systems():
    with pytest.raises(ProgramError, match="no function 'other' to export"):
        shared_library([TEXT], "linux-x86_64", ["other"])
    with pytest.raises(NamingError, match="'plan9-x86_64'"):
        shared_library([TEXT], "plan9-x86_64", EXPORTS)


def test_a_distance_beyond_an_instruction_is_refused():
    with pytest.raises(ProgramError, match="too large"):
        patched("aarch64", bytearray(4), 0, 283, 0, 1 << 28)
    with pytest.raises(ProgramError, match="relocation 5 of x86_64"):
        patched("x86_64", bytearray(4), 0, 5, 0, 0)


def test_every_function_has_a_section_of_its_own():
    text = separate('define void @a.b(ptr %x) nounwind {\ndefine void @"c-d"() #0 !dbg !3 {\n')
    assert text == (
        'define void @a.b(ptr %x) nounwind section ".text.a.b" {\n'
        'define void @"c-d"() #0 section ".text.c-d" !dbg !3 {\n'
    )


def test_entries_and_loops_have_the_bits_of_the_portable_kernel(pendulum, loaded):
    run = loaded(shared_library(pendulum[1], "linux-x86_64", ["run"])).run
    run.argtypes = [ctypes.c_int64, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    assert _digits(run, pendulum[0]) == _here(pendulum)


def parameters(program):
    """Their values, and one more, for there may be none."""
    return np.array([*program.defaults.get("p", ()), 0.0])


def test_two_runs_give_the_same_bytes(tmp_path):
    """The second one is another process, with another order of sets and an empty cache."""
    code = (
        "import hashlib, sys; sys.path.insert(0, sys.argv[1])\n"
        "from test_libraries import *\n"
        "print(*(hashlib.sha256(shared_library([TEXT], x, EXPORTS)).hexdigest() for x in EVERY))"
    )
    environment = {
        **os.environ, "PYTHONHASHSEED": "7", "LIAISON_CACHE": str(tmp_path),
        "PYTHONPATH": os.pathsep.join(sys.path),
    }  # fmt: skip
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    other = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    here = [hashlib.sha256(shared_library([TEXT], x, EXPORTS)).hexdigest() for x in EVERY]
    assert other.stdout.split() == here


def _parsed(content):
    lief = pytest.importorskip("lief")
    return lief, lief.parse(list(content))


@pytest.mark.parametrize("system", ["linux-x86_64", "linux-aarch64"])
def test_structure_of_elf(system):
    lief, library = _parsed(shared_library([TEXT], system, EXPORTS, "libmade"))
    assert sorted(x.name for x in library.exported_symbols) == sorted(EXPORTS)
    assert sorted(x.name for x in library.imported_symbols if x.name) == ["calloc", "free"]
    assert list(library.libraries) == ["libc.so.6"]
    loads = [x for x in library.segments if x.type == lief.ELF.Segment.TYPE.LOAD]
    pages = 1 << (16 if "aarch64" in system else 12)
    last = -1
    for segment in loads:
        assert int(segment.flags) & 3 != 3  # nothing is both written and executed
        assert segment.virtual_address % pages == segment.file_offset % pages
        assert segment.virtual_address // pages > last
        last = (segment.virtual_address + segment.virtual_size - 1) // pages
    assert library[lief.ELF.DynamicEntry.TAG.SONAME].name == "libmade.so"


def test_structure_of_pe():
    lief, library = _parsed(shared_library([TEXT], "windows-x86_64", EXPORTS, "made"))
    assert [x.name for x in library.get_export().entries] == sorted(EXPORTS)
    assert library.get_export().name == "made.dll"
    (imports,) = library.imports
    assert imports.name == "ucrtbase.dll"
    assert [x.name for x in imports.entries] == ["calloc", "free"]
    flags = lief.PE.Section.CHARACTERISTICS
    for section in library.sections:
        assert not (
            section.has_characteristic(flags.MEM_WRITE)
            and section.has_characteristic(flags.MEM_EXECUTE)
        )
        assert section.virtual_address % 0x1000 == 0 == section.pointerto_raw_data % 0x200
    moved = [x.address for page in library.relocations for x in page.entries]
    table = library.get_section(".data").virtual_address
    assert moved == [table, table + 8]  # two addresses of functions
    is_sound, why = lief.PE.check_layout(library)
    assert is_sound, why


@pytest.mark.parametrize("system", ["macos-x86_64", "macos-arm64"])
def test_structure_of_mach_o(system):
    lief, library = _parsed(shared_library([TEXT], system, EXPORTS, "made"))
    assert sorted(x.name for x in library.exported_symbols) == sorted(f"_{x}" for x in EXPORTS)
    assert sorted(x.name for x in library.imported_symbols) == ["_calloc", "_free"]
    ok, why = lief.MachO.check_layout(library)
    assert ok, why
    page = 0x4000 if "arm" in system else 0x1000
    for segment in library.segments:
        assert segment.virtual_address % page == 0 == segment.file_offset % page
        assert segment.max_protection & 6 != 6
    assert library.has_code_signature
    trie = {x.symbol.name: x.address for x in library.dyld_info.exports}
    assert trie == {x.name: x.value for x in library.exported_symbols}


def _commands(library):
    """Number and place of each load command."""
    count, place = struct.unpack_from("<I", library, 16)[0], 32
    for _ in range(count):
        command, size = struct.unpack_from("<II", library, place)
        yield command, place
        place += size


def _slices(universal):
    magic, count = struct.unpack_from(">II", universal)
    assert (magic, count) == (0xCAFEBABE, 2)
    for k in range(count):
        _, _, start, size, align = struct.unpack_from(">iiIII", universal, 8 + 20 * k)
        assert start % (1 << align) == 0
        yield universal[start : start + size]


def test_every_page_of_a_universal_library_is_signed():
    universal = shared_library([TEXT], "macos", EXPORTS, "made")
    single = [shared_library([TEXT], x, EXPORTS, "made") for x in ("macos-x86_64", "macos-arm64")]
    for library, alone in zip(_slices(universal), single, strict=True):
        assert library == alone
        (place,) = (x for command, x in _commands(library) if command == 0x1D)
        start, size = struct.unpack_from("<II", library, place + 8)
        assert start + size == len(library)
        assert struct.unpack_from(">5I", library, start) == (0xFADE0CC0, size, 1, 0, 20)
        directory = struct.unpack_from(">9I4B", library, start + 20)
        magic, length, _, flags, hashes, name, _, count, limit = directory[:9]
        assert (magic, flags, limit) == (0xFADE0C02, 0x20002, start)
        assert library[start + 20 + name :].startswith(b"made.dylib\0")
        listed = library[start + 20 + hashes : start + 20 + length]
        pages = [library[k : min(k + 4096, limit)] for k in range(0, limit, 4096)]
        assert len(pages) == count
        assert b"".join(hashlib.sha256(x).digest() for x in pages) == listed


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="code of another processor")
def test_code_of_macos_computes_once_it_is_mapped(pendulum):
    """Segments put in memory as the loader of macOS does, addresses moved; Linux calls alike."""
    _, library = _parsed(shared_library(pendulum[1], "macos-x86_64", ["run"]))
    content = shared_library(pendulum[1], "macos-x86_64", ["run"])
    size = max(x.virtual_address + x.virtual_size for x in library.segments)
    memory = mmap.mmap(-1, size, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for x in library.segments:
        part = content[x.file_offset : x.file_offset + x.file_size]
        memory[x.virtual_address : x.virtual_address + len(part)] = part
    for moved in library.relocations:
        (word,) = struct.unpack_from("<Q", memory, moved.address)
        struct.pack_into("<Q", memory, moved.address, word + base)
    place = next(x.value for x in library.exported_symbols)
    pointer = ctypes.c_void_p
    run = ctypes.CFUNCTYPE(None, ctypes.c_int64, ctypes.c_double, pointer, pointer)(base + place)
    assert _digits(run, pendulum[0]) == _here(pendulum)


def _digits(run, program):
    state, p = np.array([0.3, 0.1, 0.0, 0.0]), parameters(program)
    run(1000, 1e-3, state.ctypes.data, p.ctypes.data)
    return " ".join(f"{x:.17g}" for x in state[:2])


def _here(pendulum):
    """What the portable kernel gives."""
    program, _ = pendulum
    p = parameters(program)
    state = np.array([0.3, 0.1, 0.0, 0.0])
    kernel = liaison.to_llvm(program, portable=True)
    rk4(kernel.function("forward"), 1000, 1e-3, state, p, np.zeros(16), np.zeros(64))
    return " ".join(f"{x:.17g}" for x in state[:2])


def test_a_package_has_entries_and_steps_for_every_system(tmp_path):
    """Steps of the library are those of the simulation; its header is C."""
    program = liaison.to_kernel(EXAMPLES / "four_bar.lsd").program
    files = library_package(program, tmp_path, ["forward", "closure"])
    assert set(files) == {"header", *PLACES}
    text = files["header"].read_text()
    assert "double four_bar_step(" in text
    library = ctypes.CDLL(str(files["linux-x86_64"]))
    room = int(re.search(r"FOUR_BAR_STEP_WORK (\d+)", text)[1])
    run = liaison.simulate(EXAMPLES / "four_bar.lsd", until=0.1, method="rk4", step=1e-3)
    t, q, v = np.zeros(1), run.q[0].copy(), run.v[0].copy()
    p, work = parameters(program), np.zeros(room + 1)
    work[room] = 7.0
    library.four_bar_step.restype = ctypes.c_double
    pointers = [ctypes.c_void_p(x.ctypes.data) for x in (t, q, v, p, p, work)]
    left = [library.four_bar_step(ctypes.c_double(1e-3), *pointers) for _ in range(100)]
    np.testing.assert_allclose(q, run.q[-1], atol=1e-12)
    np.testing.assert_allclose(v, run.v[-1], atol=1e-10)
    assert t[0] == pytest.approx(0.1)
    assert max(left) < 1e-15
    assert work[room] == 7.0  # beyond its room
    out = np.zeros(4)
    library.four_bar_closure(ctypes.c_double(0.0), *pointers[1:5], None,
                             ctypes.c_void_p(out.ctypes.data), None)  # fmt: skip
    assert np.abs(out).max() < 1e-14
    if shutil.which("gcc"):
        command = ["gcc", "-std=c99", "-fsyntax-only", "-Wall", "-Wextra", "-Werror", "-x", "c"]
        subprocess.run([*command, files["header"]], check=True)


def test_a_package_of_a_mechanism_with_contacts_has_entries_only(tmp_path):
    program = liaison.lower(liaison.derive(EXAMPLES / "chaplygin_unilateral.lsd"))
    files = library_package(program, tmp_path, ["mass_matrix"], systems=["linux-x86_64"])
    assert "_step(" not in files["header"].read_text()
    assert list(files) == ["header", "linux-x86_64"]


HARNESS = r"""
#include <stdio.h>
#include <stdint.h>
#ifdef _WIN32
#include <windows.h>
#define OPEN(x) (void *)LoadLibraryA(x)
#define FIND(h, name) (void *)GetProcAddress(h, name)
#else
#include <dlfcn.h>
#define OPEN(x) dlopen(x, RTLD_NOW)
#define FIND(h, name) dlsym(h, name)
#endif
int main(int count, char **words)
{
    void *h = OPEN(words[1]);
    if (!h) return 2;
    void (*run)(int64_t, double, double *, double *) = FIND(h, "run");
    double state[4] = {0.3, 0.1, 0.0, 0.0}, p[64] = {PARAMETERS};
    run(1000, 1e-3, state, p);
    int64_t (*large)(int64_t) = FIND(h, "large"), (*taken)(int64_t) = FIND(h, "taken");
    printf("%.17g %.17g %lld %lld\n", state[0], state[1], (long long)large(2999),
           (long long)taken(10));
    return 0;
}
"""
ELSEWHERE = {
    "musl": ("linux-x86_64", "musl-gcc", []),
    "qemu": ("linux-aarch64", "aarch64-linux-gnu-gcc",
             ["qemu-aarch64", "-L", "/usr/aarch64-linux-gnu"]),
    "wine": ("windows-x86_64", "x86_64-w64-mingw32-gcc", ["wine"]),
}  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("place", ELSEWHERE)
def test_the_same_digits_elsewhere(place, pendulum, tmp_path):
    system, compiler, runner = ELSEWHERE[place]
    for program in [compiler, *runner[:1]]:
        if shutil.which(program) is None:
            pytest.skip(f"no {program} here")
    modules = [*pendulum[1], TEXT]
    suffix = ".exe" if system.startswith("windows") else ""
    file = tmp_path / f"made{SYSTEMS[system].suffix}"
    file.write_bytes(shared_library(modules, system, ["run", "large", "taken"]))
    p = ", ".join(map(repr, parameters(pendulum[0]).tolist()))
    source, program = tmp_path / "harness.c", tmp_path / f"harness{suffix}"
    source.write_text(HARNESS.replace("PARAMETERS", p))
    subprocess.run([compiler, source, "-o", program, *(["-ldl"] if not suffix else [])], check=True)
    environment = {**os.environ, "WINEDEBUG": "-all"}
    ran = subprocess.run(
        [*runner, program, file], capture_output=True, text=True, check=True, env=environment
    )
    assert ran.stdout.split() == [*_here(pendulum).split(), str(THREES), "0"]
