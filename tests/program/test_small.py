"""C for small machines: compiled here, and for a Cortex-M4F that is emulated."""

from __future__ import annotations

import ctypes
import shutil
import struct
import subprocess
from pathlib import Path

import numpy as np
import pytest
from program_samples import require_c

import liaison
from liaison.errors import ProgramError
from liaison.program.c.compile_c import c_compiler
from liaison.program.c.precision import check_precision, check_step, precision_error
from liaison.program.c.real import SINGLE, Needs, Real, helpers_text
from liaison.program.c.small import not_periodic, small_package, step_parts
from liaison.verbs.ready import ready_for

EXAMPLES = Path(__file__).parents[2] / "examples"
WARNINGS = [
    "-std=c99",
    "-pedantic",
    "-Wall",
    "-Wextra",
    "-Wconversion",
    "-Wdouble-promotion",
    "-Wshadow",
    "-Werror",
]
RUN = """
#include "{name}.h"
#ifdef __cplusplus
#error this is C
#endif
double run(int steps, double h, double *q, double *v)
{{
  static {name}_state s;
  double worst = 0.0;
  {name}_start(&s);
  for (int k = 0; k < steps; k++) {{
    const double left = (double){name}_step(&s, 0, ({real})h);
    worst = left > worst ? left : worst;
  }}
  for (int k = 0; k < {N}_NQ; k++) q[k] = (double)s.q[k] + 6.283185307179586 * s.turns[k];
  for (int k = 0; k < {N}_NV; k++) v[k] = (double)s.v[k];
#if {N}_NC > 0
  if (!((double)s.missed < 1e-3)) return 1.0;
#endif
  return worst;
}}
"""
STEP = 2.0**-10  # the same number in both precisions


@pytest.fixture(scope="module")
def four_bar():
    kernel, state = ready_for(EXAMPLES / "four_bar.lsd", None, None, None)
    return step_parts(kernel.program), state


def written(parts, state, folder, precision, libm):
    return small_package(parts, folder, state, precision=precision, libm=libm)


def linked(package, folder, precision, *flags):
    """The step as a library with a function `run`."""
    name = package.header.stem
    real = "float" if precision == "single" else "double"
    user = folder / "run.c"
    user.write_text(RUN.format(name=name, N=name.upper(), real=real))
    library = folder / "run.so"
    command = [c_compiler(), "-O2", "-shared", "-fPIC", *flags, user, package.source]
    subprocess.run([*command, f"-I{package.header.parent}", "-o", library, "-lm"], check=True)
    run = ctypes.CDLL(str(library)).run
    run.restype = ctypes.c_double
    run.argtypes = [ctypes.c_int, ctypes.c_double, ctypes.c_void_p, ctypes.c_void_p]
    return run


def ran(run, parts, steps):
    q, v = np.zeros(parts.size("nq")), np.zeros(parts.size("nv"))
    worst = run(steps, STEP, q.ctypes.data, v.ctypes.data)
    return q, v, worst


@pytest.mark.parametrize("libm", [True, False])
def test_steps_in_double_precision_are_those_of_the_simulation(four_bar, libm, tmp_path):
    require_c()
    parts, state = four_bar
    package = written(parts, state, tmp_path, "double", libm)
    q, v, worst = ran(linked(package, tmp_path, "double"), parts, 512)
    run = liaison.simulate(EXAMPLES / "four_bar.lsd", until=512 * STEP, method="rk4", step=STEP)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-11)
    np.testing.assert_allclose(v, run.v[-1], atol=1e-9)
    assert worst < 1e-15


def test_attitudes_move_on_their_spheres(tmp_path):
    """A top: four numbers of a unit quaternion, which move together."""
    require_c()
    kernel, state = ready_for(EXAMPLES / "spinning_top.lsd", None, None, None)
    parts = step_parts(kernel.program)
    assert -1 in parts.moves
    package = written(parts, state, tmp_path, "double", True)
    q, v, _ = ran(linked(package, tmp_path, "double"), parts, 100)
    run = liaison.simulate(EXAMPLES / "spinning_top.lsd", until=100 * STEP, method="rk4", step=STEP)
    np.testing.assert_allclose(q, run.q[-1], atol=1e-11)
    np.testing.assert_allclose(v, run.v[-1], atol=1e-9)


def test_single_precision_stays_near_double_over_ten_seconds(four_bar, tmp_path):
    """27 turns of the crank; 1e-5 of the largest value of each coordinate, and of the rocker."""
    require_c()
    parts, state = four_bar
    ends = {}
    for precision in ("single", "double"):
        folder = tmp_path / precision
        package = written(parts, state, folder, precision, False)
        flags = ["-ffp-contract=off"]
        ends[precision] = ran(linked(package, folder, precision, *flags), parts, 10240)
    (q, v, worst), (exact, speeds, _) = ends["single"], ends["double"]
    assert exact[0] > 170.0
    np.testing.assert_allclose(q, exact, rtol=1e-5)
    np.testing.assert_allclose(v, speeds, rtol=1e-3)
    assert worst < 5e-7


def test_the_error_that_is_measured_is_that_of_the_compiled_step(four_bar, tmp_path):
    require_c()
    parts, state = four_bar
    measured = precision_error(parts, state, step=STEP, steps=400)
    ends = [
        ran(linked(written(parts, state, tmp_path / x, x, True), tmp_path / x, x), parts, 400)[0]
        for x in ("single", "double")
    ]
    found = np.max(np.abs(ends[0] - ends[1]) / np.maximum(1.0, np.abs(ends[1])))
    assert 0.02 * measured.position < found < 3 * measured.position
    assert 1e-9 < measured.position < 1e-6
    assert 1e-9 < measured.closure < 1e-6
    assert "after 400 steps" in str(measured)


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize(
    "name",
    ["four_bar", "gimbals", *(pytest.param(x, marks=pytest.mark.slow) for x in ("cam", "door"))],
)
def test_no_compiler_warns_and_nothing_is_left_to_link(compiler, name, tmp_path):
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler} here")
    kernel, state = ready_for(EXAMPLES / f"{name}.lsd", None, None, None)
    parts = step_parts(kernel.program, 2)
    for precision in ("single", "double"):
        for libm in (True, False):
            package = written(parts, state, tmp_path, precision, libm)
            alone = [] if libm else ["-O1", "-shared", "-fPIC", "-nostdlib", "-Wl,--no-undefined"]
            command = [compiler, *WARNINGS, *(alone or ["-c"]), package.source]
            subprocess.run([*command, "-o", tmp_path / "made"], check=True)


MECHANISMS = sorted(EXAMPLES.glob("*.lsd"))
ROOM = 1e-9  # for what a step of fixed cost does not do: 50 steps from the start


@pytest.mark.slow
@pytest.mark.parametrize("file", MECHANISMS, ids=lambda x: x.stem)
def test_every_mechanism_steps_in_c_or_says_why_not(file, tmp_path):
    """Smooth ones: double precision beside the simulation."""
    require_c()
    try:
        kernel, state = ready_for(file, None, None, None)
        parts = step_parts(kernel.program, 3)
        check_step(parts, state, step=STEP)
    except liaison.LiaisonError as error:
        pytest.skip(str(error))
    package = written(parts, state, tmp_path, "double", True)
    if f"{package.header.stem.upper()}_DEFAULT_U" in package.header.read_text():
        pytest.skip("it is driven")
    q, _, _ = ran(linked(package, tmp_path, "double", "-O0"), parts, 50)
    try:
        run = liaison.simulate(file, until=50 * STEP, method="rk4", step=STEP)
    except liaison.LiaisonError:
        pytest.skip("no run of fixed steps")
    np.testing.assert_allclose(q, run.q[-1], atol=ROOM, rtol=ROOM)


def test_closures_of_uncertain_rank_are_refused():
    """A Bennett linkage closes, and moves, against the count of its closures."""
    kernel, state = ready_for(EXAMPLES / "bennett.lsd", None, None, None)
    parts = step_parts(kernel.program)
    with pytest.raises(ProgramError, match=r"miss its closures by .* does not pivot"):
        check_step(parts, state)
    with pytest.raises(ProgramError, match="single precision is not enough for 'Bennett"):
        check_precision(parts, precision_error(parts, state, steps=20))


RANGES = {
    "sin": (-1e3, 1e3), "cos": (-1e3, 1e3), "tan": (-1.5, 1.5), "atan": (-50.0, 50.0),
    "asin": (-1.0, 1.0), "acos": (-1.0, 1.0), "exp": (-80.0, 80.0), "log": (1e-30, 1e3),
    "sqrt": (0.0, 1e6),
}  # fmt: skip
NUMPY = {"atan": np.arctan, "asin": np.arcsin, "acos": np.arccos, "atan2": np.arctan2}
ULP = 2.0**-24


@pytest.fixture(scope="module")
def functions(tmp_path_factory):
    """Functions in single precision, each for arrays."""
    require_c()
    folder = tmp_path_factory.mktemp("functions")
    names = [x for x in SINGLE if x not in ("bits", "from_bits", "sincos", "asin_rest")]
    needs = Needs(Real("float", is_own=True), dict.fromkeys(names))
    text = "#include <stdint.h>\n" + helpers_text(needs)
    for name in names:
        two = name in ("atan2", "pow")
        call = f"liaison_{name}(x[k]{', y[k]' if two else ''})"
        text += f"void all_{name}(int n, const float *x, const float *y, float *z)\n"
        text += f"{{ (void)y; for (int k = 0; k < n; k++) z[k] = {call}; }}\n"
    (folder / "functions.c").write_text(text)
    command = [c_compiler(), "-O1", "-ffp-contract=off", "-shared", "-fPIC", "-nostdlib"]
    command += [folder / "functions.c", "-o", folder / "functions.so"]
    subprocess.run(command, check=True)
    library = ctypes.CDLL(str(folder / "functions.so"))

    def call(name, x, y=None):
        x = np.asarray(x, dtype=np.float32)
        y = x if y is None else np.asarray(y, dtype=np.float32)
        z = np.zeros_like(x)
        getattr(library, f"all_{name}")(
            x.size, *(ctypes.c_void_p(a.ctypes.data) for a in (x, y, z))
        )
        return x.astype(float), y.astype(float), z.astype(float)

    return call


@pytest.mark.parametrize("name", RANGES)
def test_functions_in_single_precision_are_accurate(functions, name):
    x, _, z = functions(name, np.linspace(*RANGES[name], 20001))
    exact = NUMPY.get(name, getattr(np, name, None))(x)
    size = np.maximum(np.abs(exact), 1e-30)
    if name in ("sin", "cos"):
        size = np.maximum(size, 1e-4)  # near a zero, what the reduction leaves
    assert np.max(np.abs(z - exact) / size) < 5 * ULP


def test_angles_and_powers_in_single_precision(functions):
    random = np.random.default_rng(3)
    y, x, z = functions("atan2", *random.normal(size=(2, 5000)))
    np.testing.assert_allclose(z, np.arctan2(y, x), rtol=6 * ULP)
    turned = functions("atan2", [0.0, -0.0, 0.0, 1.0, -1.0], [-1.0, -1.0, 1.0, 0.0, 0.0])[2]
    np.testing.assert_allclose(turned, np.pi * np.array([1, -1, 0, 0.5, -0.5]), rtol=2 * ULP)
    x, y, z = functions("pow", random.uniform(0.01, 100, 5000), random.uniform(-8, 8, 5000))
    exact = x**y
    assert np.all(np.abs(z - exact) <= exact * 4 * ULP * (1 + np.abs(y * np.log(x))))
    assert functions("pow", [-2.0, -2.0, 0.0, 5.0], [3.0, 2.0, 2.0, 0.0])[2].tolist() == [
        pytest.approx(-8.0, rel=1e-6), pytest.approx(4.0, rel=1e-6), 0.0, 1.0,
    ]  # fmt: skip
    assert np.isnan(functions("pow", [-2.0], [0.5])[2])
    assert np.isnan(functions("sqrt", [-1.0])[2])
    assert np.isnan(functions("log", [-1.0])[2])


def test_positions_are_kept_within_a_turn_only_where_nothing_changes(four_bar):
    parts, _ = four_bar
    assert parts.turning == (0, 1, 2)
    assert not_periodic(parts.program, "outputs") == {2}  # an angle itself
    assert not_periodic(parts.program, "difference") == {0, 1, 2}
    program = liaison.lower(liaison.derive(EXAMPLES / "quarter_car.lsd"))
    assert step_parts(program).turning == ()  # lengths and springs


def test_what_has_no_fixed_cost_is_refused(four_bar, tmp_path):
    program = liaison.lower(liaison.derive(EXAMPLES / "chaplygin_unilateral.lsd"))
    with pytest.raises(ProgramError, match="contacts or dry friction"):
        step_parts(program)
    with pytest.raises(ProgramError, match="at least one"):
        step_parts(four_bar[0].program, 0)
    with pytest.raises(ProgramError, match="'half'"):
        written(*four_bar, tmp_path, "half", True)


def test_the_header_counts_operations_and_names_every_number(four_bar, tmp_path):
    parts, state = four_bar
    package = small_package(parts, tmp_path, state, note="A note.")
    text = package.header.read_text()
    assert "float missed;" in text
    assert f"One step takes {sum(package.operations.values())} operations" in text
    for array in ("q", "v", "p"):
        for k, label in enumerate(parts.program.labels[array]):
            assert f"{array}[{k}]  {label.name} [{label.unit}]" in text
    assert "A note." in text
    assert "malloc" not in package.source.read_text()
    assert "target_link_libraries(four_bar PUBLIC m)" in package.cmake.read_text()


BARE = r"""
#include <stdint.h>
#include "four_bar.h"
static four_bar_state s;
static void host(uint32_t what, const void *with)
{
  register uint32_t r0 __asm__("r0") = what;
  register const void *r1 __asm__("r1") = with;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}
static void word(uint32_t x)
{
  char text[10] = "00000000\n";
  for (int k = 0; k < 8; k++) text[k] = "0123456789abcdef"[(x >> (28 - 4 * k)) & 15];
  host(4, text);
}
__attribute__((noinline)) static void run(void)
{
  four_bar_start(&s);
  for (int k = 0; k < STEPS; k++) four_bar_step(&s, 0, 1.0f / 1024);
  for (int k = 0; k < 3; k++) {
    union { float x; uint32_t i; } q;
    q.x = s.q[k];
    word(q.i);
    word((uint32_t)s.turns[k]);
  }
  host(0x18, (const void *)0x20026);
  for (;;) {}
}
static void reset(void)
{
  *(volatile uint32_t *)0xE000ED88 |= 0xFu << 20;  /* floating-point unit on */
  __asm__ volatile("dsb\n\tisb");
  run();
}
__attribute__((section(".vectors"), used))
static const void *const vectors[] = {(void *)0x20010000, (void *)reset};
"""
LAYOUT = """
MEMORY { FLASH (rx) : ORIGIN = 0, LENGTH = 24K RAM (rwx) : ORIGIN = 0x20000000, LENGTH = 4K }
SECTIONS {
  .text : { KEEP(*(.vectors)) *(.text*) *(.rodata*) } > FLASH
  .bss : { *(.bss*) *(COMMON) } > RAM
  /DISCARD/ : { *(.ARM.exidx*) }
}
"""
CORTEX = [
    "-mcpu=cortex-m4",
    "-mthumb",
    "-mfloat-abi=hard",
    "-mfpu=fpv4-sp-d16",
    "-O2",
    "-ffreestanding",
]
BOARD = ["-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none"]


def emulated(folder, source, steps, *more):
    """What the board prints after so many steps."""
    program = folder / f"bare{steps}.elf"
    command = ["arm-none-eabi-gcc", *CORTEX, "-nostdlib", "-nostartfiles", f"-DSTEPS={steps}"]
    command += ["-fstack-usage", folder / "bare.c", source, "-T", folder / "bare.ld"]
    subprocess.run([*command, "-lgcc", "-o", program], check=True, cwd=folder)
    board = ["qemu-system-arm", *BOARD, "-semihosting-config", "enable=on,target=native"]
    done = subprocess.run(
        [*board, *more, "-kernel", program], capture_output=True, text=True, check=True, timeout=120
    )
    words = (done.stdout + done.stderr).split()
    return program, [
        struct.unpack(">f", bytes.fromhex(words[k]))[0]
        + 2 * np.pi * struct.unpack(">i", bytes.fromhex(words[k + 1]))[0]
        for k in (0, 2, 4)
    ]


@pytest.mark.slow
def test_a_cortex_m4f_takes_a_step_in_few_instructions(four_bar, tmp_path):
    """Instructions are lines of QEMU's log, one a block: those of two steps less those of one."""
    for tool in ("arm-none-eabi-gcc", "qemu-system-arm"):
        if shutil.which(tool) is None:
            pytest.skip(f"no {tool} here")
    parts, state = four_bar
    package = written(parts, state, tmp_path, "single", False)
    (tmp_path / "bare.c").write_text(BARE)
    (tmp_path / "bare.ld").write_text(LAYOUT)
    counts = []
    for steps in (1, 2):
        log = tmp_path / f"log{steps}"
        emulated(tmp_path, package.source, steps, "-singlestep", "-d", "exec,nochain", "-D", log)
        counts.append(log.read_text().count("\n"))
    assert 1000 < counts[1] - counts[0] <= 8000
    program, q = emulated(tmp_path, package.source, 10240)
    folder = tmp_path / "double"
    double = written(parts, state, folder, "double", True)
    exact = ran(linked(double, folder, "double"), parts, 10240)[0]
    np.testing.assert_allclose(q, exact, rtol=1e-5)
    listed = [x for f in tmp_path.glob("bare10240*.su") for x in f.read_text().splitlines()]
    stacks = [int(x.split("\t")[1]) for x in listed]
    assert stacks
    sizes = (
        subprocess.run(["arm-none-eabi-size", program], capture_output=True, text=True, check=True)
        .stdout.split("\n")[1]
        .split()
    )
    assert int(sizes[0]) <= 24_000
    assert int(sizes[1]) + int(sizes[2]) + sum(stacks) <= 4_000
    print(
        f"\n{counts[1] - counts[0]} instructions, {sizes[0]} B flash, {sizes[2]} B and "
        f"{sum(stacks)} B of stack at most, {np.max(np.abs(np.array(q) - exact)):.1e} from double"
    )
