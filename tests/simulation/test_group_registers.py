"""Text of a GPU's threads, played by threads of this processor, which wait for each other.

What is not played: how a GPU's compiler orders memory, and how it brings threads together again.
"""

import ctypes
import re
import threading

import numpy as np
import pytest

import liaison
from liaison.formats import read_lsd
from liaison.program.llvm.machine import load
from liaison.simulation.worlds import module
from liaison.simulation.worlds.groups.registers import LARGEST, ROW, register_text, stride_of

NV = 7
INTEGER = ctypes.c_int32
PLAYED = {
    "play_thread": (INTEGER,),
    "play_threads": (INTEGER,),
    "play_sync": (None, INTEGER),
    "play_meet": (None,),
    "play_any": (INTEGER, INTEGER),
    "play_idx": (INTEGER, INTEGER, INTEGER, INTEGER, INTEGER),
    "play_bfly": (INTEGER, INTEGER, INTEGER, INTEGER, INTEGER),
}
SEEN = (
    "liaison_quick_inverse", "liaison_quick_products", "liaison_lanes_most", "liaison_lanes_total",
    "liaison_post", "liaison_posted", "liaison_next_seat", "liaison_any_thread",
    "liaison_meet_block", "liaison_finite_inverse_root",
)  # fmt: skip
HEAD = """\
declare i32 @play_thread()
declare i32 @play_threads()
declare void @play_sync(i32)
declare void @play_meet()
declare i32 @play_any(i32)
declare i32 @play_idx(i32, i32, i32, i32)
declare i32 @play_bfly(i32, i32, i32, i32)
declare double @llvm.sqrt.f64(double)
define internal i32 @play_block() {
  ret i32 0
}
define internal float @play_rcp_single(float %x) {
  %y = fdiv float 1.0, %x
  ret float %y
}
define internal double @play_rcp(double %x) {
  %y = fdiv double 1.0, %x
  ret double %y
}
define internal double @play_rsqrt(double %x) {
  %y = call double @llvm.sqrt.f64(double %x)
  %z = fdiv double 1.0, %y
  ret double %z
}
"""
INSTEAD = {
    r"declare [^\n]*@llvm\.nvvm[^\n]*\n": "",
    r" addrspace\(\d\)": "",
    r"addrspacecast ptr ([%@][\w.]+) to ptr": r"getelementptr i8, ptr \1, i64 0",
    r"@llvm\.nvvm\.read\.ptx\.sreg\.tid\.x": "@play_thread",
    r"@llvm\.nvvm\.read\.ptx\.sreg\.ntid\.x": "@play_threads",
    r"@llvm\.nvvm\.bar\.warp\.sync": "@play_sync",
    r"@llvm\.nvvm\.read\.ptx\.sreg\.ctaid\.x": "@play_block",
    r"@llvm\.nvvm\.rcp\.approx\.ftz\.d": "@play_rcp",
    r"@llvm\.nvvm\.rcp\.approx\.ftz\.f\b": "@play_rcp_single",
    r"@llvm\.nvvm\.rsqrt\.approx\.d": "@play_rsqrt",
    r"@llvm\.nvvm\.shfl\.sync\.idx\.i32": "@play_idx",
    r"@llvm\.nvvm\.shfl\.sync\.bfly\.i32": "@play_bfly",
    r'asm sideeffect "\{[^"]*barrier\.red[^"]*", "[^"]*"\(': "@play_any(",
    r'asm sideeffect "barrier\.sync 0;", "[^"]*"\(': "@play_meet(",
    r'  call void asm sideeffect "prefetch[^\n]*\n': "",
    r"\bconvergent\b|ptx_kernel ": "",
    r'"nvvm[^"]*"="[^"]*"': "",
}


class Block:
    """Threads of a block, 32 of which go together."""

    def __init__(self, threads=32, text="", names=SEEN):
        self.threads, self.own = threads, threading.local()
        self.warps = [threading.Barrier(32) for _ in range(threads // 32)]
        self.whole = threading.Barrier(threads)
        self.values = np.zeros(threads, np.int64)
        calls = {
            "play_thread": lambda: self.own.k,
            "play_threads": lambda: threads,
            "play_sync": lambda _: self.wait(),
            "play_meet": lambda: self.whole.wait() and None,
            "play_any": self.any,
            "play_idx": lambda _, x, lane, __: self.exchanged(x, lambda k: lane),
            "play_bfly": lambda _, x, far, __: self.exchanged(x, lambda k: k ^ far),
        }
        self.kept = {x: ctypes.CFUNCTYPE(*PLAYED[x])(calls[x]) for x in PLAYED}
        text = text or "\n".join(register_text(NV, "double", gpu=True))
        for pattern, other in INSTEAD.items():
            text = re.sub(pattern, other, text)
        for name in names:
            text = re.sub(rf"define internal (\S+) @{name}\(", rf"define \1 @{name}(", text)
        text = module.declared_once(HEAD + text.replace("alwaysinline", ""))
        places = {x: ctypes.cast(f, ctypes.c_void_p).value for x, f in self.kept.items()}
        self.code = load(text, names, imports=places, keep=False)

    def wait(self):
        self.warps[self.own.k // 32].wait()

    def any(self, x):
        self.values[self.own.k] = x
        self.whole.wait()
        result = int(np.any(self.values != 0))
        self.whole.wait()
        return result

    def exchanged(self, x, source):
        k = self.own.k
        self.values[k] = x
        self.wait()
        result = int(self.values[k // 32 * 32 + source(k % 32)])
        self.wait()
        return result

    def run(self, name, result, *kinds):
        """A function of the text."""
        return ctypes.CFUNCTYPE(result, *kinds)(self.code[name])

    def play(self, work):
        """What each thread gives."""
        results = [None] * self.threads

        def one(k):
            self.own.k = k
            results[k] = work(k)

        players = [threading.Thread(target=one, args=(k,)) for k in range(self.threads)]
        for player in players:
            player.start()
        for player in players:
            player.join()
        return results


@pytest.fixture(scope="module")
def block():
    return Block()


def aligned(size):
    """Numbers that begin at a multiple of 16 bytes, as shared memory does."""
    room = np.zeros(size + 2)
    first = (-room.ctypes.data // 8) % 2
    return room[first : first + size]


def inverted(block, J):
    """J⁻¹ by 32 threads, and whether it is there."""
    m = len(J)
    laid, rows = aligned(m * (m | 1)), aligned(2 * ROW)
    laid.reshape(m, m | 1)[:, :m] = J
    call = block.run("liaison_quick_inverse", INTEGER, INTEGER, ctypes.c_void_p, ctypes.c_void_p)
    results = block.play(lambda k: call(m, laid.ctypes.data, rows.ctypes.data))
    assert len(set(results)) == 1
    return laid.reshape(m, m | 1)[:, :m], results[0]


@pytest.mark.parametrize("m", [1, 7, 8, 13, 24, 25, 32])
def test_inverse_by_registers(block, m):
    """Also of rows that depend on each other but for ρ, and of a matrix that is not symmetric."""
    rng = np.random.default_rng(m)
    X = rng.normal(size=(m, m // 2 + 1))
    J = X @ X.T / m + 1e-5 * np.eye(m)
    J[m // 2] = 0.3 * J[m // 2]
    J[m // 2, m // 2] += 1.0
    inverse, is_there = inverted(block, J)
    assert is_there == 1
    assert np.max(np.abs(inverse @ J - np.eye(m))) <= 1e-15 * m * np.linalg.cond(J) + 1e-13


def test_a_small_pivot_and_too_many_rows_are_for_loops(block):
    J = np.eye(6)
    J[3, 3] = 0.5 / float(LARGEST)
    same, is_there = inverted(block, J)
    assert is_there == 0
    assert np.array_equal(same, J)
    assert inverted(block, np.eye(33))[1] == 0


@pytest.mark.parametrize("m", [1, 5, 24, 32])
def test_products_by_registers(block, m):
    X, A = aligned(m * stride_of(NV)), aligned(m * (m | 1))
    rows = X.reshape(m, stride_of(NV))
    rows[:, :NV] = np.random.default_rng(2).normal(size=(m, NV))
    call = block.run("liaison_quick_products", INTEGER, INTEGER, ctypes.c_void_p, ctypes.c_void_p)
    assert set(block.play(lambda k: call(m, X.ctypes.data, A.ctypes.data))) == {1}
    product = A.reshape(m, m | 1)[:, :m]
    assert np.max(np.abs(product - rows[:, :NV] @ rows[:, :NV].T)) <= 1e-14 * NV


def test_all_threads_get_the_largest_and_the_sum(block):
    x = np.random.default_rng(1).normal(size=32)
    for name, expected in (("most", x.max()), ("total", x.sum())):
        call = block.run(f"liaison_lanes_{name}", ctypes.c_double, ctypes.c_double)
        results = block.play(lambda k, call=call: call(x[k]))
        assert len(set(results)) == 1
        assert results[0] == pytest.approx(expected, rel=1e-14)


def test_every_seat_is_taken_once_and_by_one_group():
    block = Block(96)
    post = block.run("liaison_post", None, INTEGER)
    posted = block.run("liaison_posted", INTEGER, INTEGER, INTEGER)
    next_seat = block.run("liaison_next_seat", INTEGER, INTEGER)
    any_thread = block.run("liaison_any_thread", INTEGER, INTEGER)
    meet = block.run("liaison_meet_block", None)

    def work(k):
        taken = []
        for turn in range(2):
            post(1000 * turn + k)
            meet()
            seat = next_seat(-1)
            while seat < block.threads:
                taken.append((seat, posted(seat, -1)))
                seat = next_seat(seat)
            meet()
        assert posted(block.threads, -1) == 0
        return taken, any_thread(int(k == 50)), any_thread(0)

    results = block.play(work)
    for warp in range(3):
        assert all(x[0] == results[32 * warp][0] for x in results[32 * warp : 32 * (warp + 1)])
    taken = [x for warp in range(3) for x in results[32 * warp][0]]
    assert sorted(taken) == sorted((k, 1000 * turn + k) for turn in range(2) for k in range(96))
    assert {x[1:] for x in results} == {(1, 0)}


def test_inverse_root_of_nothing_is_finite(block):
    call = block.run("liaison_finite_inverse_root", ctypes.c_double, ctypes.c_double)
    assert call(4.0) == pytest.approx(0.5, rel=1e-15)
    assert 0.0 * call(0.0) == 0.0


POINT = "let p{k} = contact [{x:.3f}, {y:.3f}, -5] cm @ sledge and earth with point {law} end ;"
SLEDGE = """
gravity = [0, 0, -9.81] m/s^2 ;
let sledge = body mass = 2 kg, inertia = [0.02, 0.03, 0.04] kg*m^2 end ;
let F = join earth and sledge with free end ;
{points}
start F = [0, 0, 5 cm] ;
start F' = [0.3, -0.2, 0, 0, 0, 0] ;
"""


@pytest.mark.parametrize(
    ("precision", "steps"),
    [
        ("double", 1),
        pytest.param("double", 3, marks=pytest.mark.slow),
        pytest.param("single", 2, marks=pytest.mark.slow),
    ],
)
def test_threads_of_a_block_march_worlds_as_one_thread_does(precision, steps):
    """Two groups, whose problems either may take, of worlds that are good, lost, or not there."""
    points = [(10 * np.cos(k), 7 * np.sin(k)) for k in range(9)]
    text = [POINT.format(k=k, x=x, y=y, law="friction = 0.4") for k, (x, y) in enumerate(points)]
    worlds = liaison.worlds(
        read_lsd(SLEDGE.format(points="\n".join(text))), 40, step=1e-3, device="processor",
        precision=precision,
    )  # fmt: skip
    worlds.reset(spread=0.002, seed=3)
    good = [0, 17, 33]
    worlds._codes[0] = -3
    worlds._codes[0, good] = 0
    marched = march_by_threads(worlds, steps)
    worlds.step(steps)
    assert np.all(worlds.statuses[good] == 0)
    rounding = 1e-14 if precision == "double" else 1e-6
    for name in "tqv":
        there = marched[name] - getattr(worlds, name)
        assert np.max(np.abs(there)) <= rounding
    assert np.array_equal(marched["codes"], worlds._codes)


def march_by_threads(worlds, steps, threads=64):
    """Arrays of worlds after so many steps by the text for a GPU, all of them in one block."""
    single = worlds.precision == "single"
    kernel = module.module_of(worlds.plan, ("march",), gpu=True, single=single)
    size = threads // kernel.group * kernel.group_shared // 8
    text = kernel.text.replace(
        "external addrspace(3) global [0 x double]",
        f"internal addrspace(3) global [{size} x double] zeroinitializer",
    )
    block = Block(threads, text, ("march",))
    carried = worlds._sizes()["carried"] * worlds.count
    room = aligned(carried + 4 + threads // kernel.group * kernel.group_words)
    room = room.view(worlds.real)
    room[:carried] = worlds._carried[:carried]
    arrays = {x: np.array(getattr(worlds, x)) for x in ("t", "q", "v", "u", "p")}
    arrays |= {"carried": room, "measures": np.array(worlds._measures)}
    arrays |= {"codes": np.array(worlds._codes)}
    numbers = [worlds.count, steps, steps, 1, 0, 0]
    real = ctypes.c_float if single else ctypes.c_double
    march = block.run("march", None, *[INTEGER] * 6, real, *[ctypes.c_void_p] * 8)
    places = [arrays[x].ctypes.data for x in module.STATE]
    before = threading.stack_size(1 << 26)
    try:
        block.play(lambda k: march(*numbers, worlds.plan.settings.step, *places))
    finally:
        threading.stack_size(before)
    return arrays
