"""Loops for one model: constants where a record is known, in words of 64 and of 32 bits."""

from __future__ import annotations

import ctypes
from types import SimpleNamespace

import numpy as np
import pytest

from liaison.errors import ProgramError
from liaison.program.gpu.cuda import _KEPT, FLOATS, Driver, capsule_of
from liaison.program.llvm.machine import load
from liaison.program.loops.language import entry_at, f64, i64, iptr, kernel, loop, ptr
from liaison.program.loops.records import Record, inline, size, sized
from liaison.program.loops.special import Special, in_words_of_32_bits, special_ir


class Sizes(Record):
    n: i64 = size()
    gain: f64
    calls: i64
    weight: ptr = sized("n")
    x: ptr = sized("n")


class Called(Record):
    square: kernel
    pair: iptr = inline(2)


@loop
def noted(x: f64) -> None:
    x = x + 1.0


@loop
def weighted(e: Called, s: Sizes, out: ptr) -> None:
    noted(s.gain)
    for i in range(s.n):
        s.x[i] = s.gain * s.weight[i] + 1e-15
    s.calls += 1
    e.square(0.0, s.x, s.x, s.x, s.x, s.x, out, out)
    out[s.n] = float(s.calls)


@loop
def chosen_late(e: Called, s: Sizes, out: ptr) -> None:
    f = entry_at(e.pair, s.calls)
    f(0.0, s.x, s.x, s.x, s.x, s.x, out, out)


def known(entries=("square",)):
    block = Sizes.new(n=3)
    block.gain, block.weight[:] = 2.0, [1.0, 2.0, 3.0]
    names = {Called.fields[name].slot: name for name in entries}
    return Special(block, frozenset({"weight"}), Called, names, (noted,))


SQUARE = """
define internal void @liaison_entry_square({r} %t, ptr %q, ptr %v, ptr %u, ptr %p, ptr %x, ptr %out,
    ptr %work) nounwind {{
  %a = load {r}, ptr %q
  %b = fmul {r} %a, %a
  store {r} %b, ptr %out
  ret void
}}
"""


def test_what_is_known_is_written_as_numbers():
    text, functions = special_ir([weighted], known())
    assert "liaison_known_weight = internal constant [3 x double]" in text
    body = text.split("@liaison_weighted(")[1]
    assert "noted" not in text
    assert not functions
    assert "icmp slt i64 %i.test.1, 3" in body or ", 3\n" in body
    slot = Sizes.fields["n"].slot
    assert f"getelementptr inbounds i64, ptr %x1, i64 {slot}\n" not in body


@pytest.mark.parametrize(("real", "whole", "word"), [("double", "i64", 8), ("float", "i32", 4)])
def test_the_text_runs_in_words_of_both_lengths(real, whole, word):
    special = known()
    text = special_ir([weighted], special)[0] + SQUARE.format(r="double")
    if real == "float":
        text = in_words_of_32_bits(text)
    text += "define void @go(ptr %s, ptr %out) {\n  call void @liaison_weighted(ptr null, ptr %s, ptr %out)\n  ret void\n}\n"  # noqa: E501
    code = load(text, ["go"], keep=False, passes=True)
    kinds = {"double": (np.float64, np.int64), "float": (np.float32, np.int32)}[real]
    block = np.zeros(int(special.block.words), kinds[1])
    out = np.zeros(4, kinds[0])
    for _ in range(2):
        ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p)(code["go"])(
            block.ctypes.data, out.ctypes.data
        )
    assert out[0] == pytest.approx(4.0)
    assert out[3] == 2.0
    x = block.view(kinds[0])[special.block.span("x")]
    assert x == pytest.approx([2.0, 4.0, 6.0])


def test_tolerances_written_in_loops_are_those_of_single_precision():
    tolerance = "0x" + np.array(1e-15, ">f8").tobytes().hex().upper()
    line = in_words_of_32_bits(f"  %x = fcmp olt double %y, {tolerance}\n")
    value = np.frombuffer(bytes.fromhex(line.split("0x")[1].strip()), ">f8")[0]
    assert 1e-8 < value < 1e-6
    data = in_words_of_32_bits(
        f"@liaison_known_a = internal constant [1 x double] [double {tolerance}]"
    )
    kept = np.frombuffer(bytes.fromhex(data.split("0x")[1].split("]")[0]), ">f8")[0]
    assert kept == pytest.approx(1e-15)


def test_an_entry_chosen_while_it_runs_is_rejected():
    with pytest.raises(ProgramError, match="chooses an entry while it runs"):
        special_ir([chosen_late], known())


class Lent:
    """Memory of this processor as a device's array gives its own."""

    def __init__(self):
        self.array = np.arange(6.0).reshape(2, 3)

    def __dlpack_device__(self):
        return (1, 0)

    def __dlpack__(self, **_):
        return capsule_of(self, self.array.ctypes.data, (2, 3), (FLOATS, 64), (1, 0))


def test_dlpack_hands_out_the_same_memory_and_lets_go_of_it():
    lent, before = Lent(), len(_KEPT)
    taken = np.from_dlpack(lent)
    assert np.shares_memory(taken, lent.array)
    assert np.array_equal(taken, lent.array)
    assert len(_KEPT) == before + 1
    del taken
    capsule = lent.__dlpack__()
    assert len(_KEPT) == before + 1
    del capsule
    assert len(_KEPT) == before


class Memory:
    """A driver's library whose device memory is this computer's."""

    def __getattr__(self, name):
        return lambda *_: 0

    @staticmethod
    def cuDeviceGetCount(place):
        place._obj.value = 1
        return 0

    @staticmethod
    def cuMemcpyDtoH_v2(target, source, size):
        ctypes.memmove(target.value, source.value, size.value)
        return 0


def test_arrays_of_other_libraries_are_copied_from_the_device():
    array = np.arange(6, dtype=np.float32).reshape(2, 3)
    interface = {"shape": (2, 3), "typestr": "<f4", "data": (array.ctypes.data, False)}
    tensor = SimpleNamespace(__cuda_array_interface__=interface)
    copy = Driver(Memory()).copied(tensor)
    assert copy.dtype == np.float32
    assert np.array_equal(copy, array)


def test_a_gpu_that_is_not_there_is_named():
    with pytest.raises(ProgramError, match="GPU 1 was asked for; this computer has 1"):
        Driver(Memory(), 1)
