"""The limits of the readers: each is refused in under a second, in words; just below is read."""

import gc
import sys
import time

import pytest

from liaison.errors import LiaisonError
from liaison.formats import read, read_lsd, read_urdf, read_value
from liaison.formats.mjcf.read import reading_of_mjcf

B = "let b = body mass = 1, inertia = 1 end ; let J = join earth and b with revolute end ;\n"
SECONDS = 1.0  # of processor time: others may use the machine too

PAST = {
    "characters": ("let a = 1 ;\n" * 400_000, "the limit is 4000000"),
    "a line": (B + "let a = " + "1+" * 10_001 + "1 ;", "the limit is 20000"),
    "brackets": (B + "let a = " + "(" * 101 + "1" + ")" * 101 + ";", "more than 100 deep"),
    "calls": (B + "let a = " + "sqrt(2+" * 90 + "1" + ")" * 90 + ";", "more than 100 deep"),
    "signs": (B + "let a = " + "-" * 101 + "1 ;", "more than 100 deep"),
    "digits": (B + "let a = " + "9" * 4001 + " ;", "more than 4000 digits"),
    "size of numbers": (B + "let a = 1e400 ;", "not finite"),
    "exponents": (B + "let a = 2^1001 ;", "larger than 1000"),
    "exponents of coordinates": (B + "output a = J^1001 ;", "larger than 1000"),
    "squares of squares": (
        B + "let a0 = 3/7 ;" + "".join(f"let a{i} = a{i - 1}*a{i - 1} ;\n" for i in range(1, 60)),
        "too many digits",
    ),
    "turns": (B + "for i = 1 to 10001 let a[i] = i ; end ;", "more than 10000 times"),
    "turns inside turns": (
        B + "for i = 1 to 1000 for j = 1 to 1000 let a[i][j] = i + j ; end ; end ;",
        "terms",
    ),
    "instances": (
        B + "mechanism a0() let y = 1 ; end ;\n"
        + "".join(f"mechanism a{i}() let p = a{i - 1}() ; let q = a{i - 1}() ; end ;\n"
                  for i in range(1, 12)) + "let z = a11() ;",
        "contains itself, or too many others",
    ),
    "blocks": (B + "for i = 1 to 1 " * 11 + "end ; " * 11, "nested more than"),
    "entries": (
        B + "let a0 = [1, 1] ;\n"
        + "".join(f"let a{i} = [a{i - 1}, a{i - 1}] ;\n" for i in range(1, 40)) + "let z = 2*a39 ;",
        "more than 10000 entries",
    ),
    "definitions": (
        B + "".join(f"let a{i} = a{i + 1} ;\n" for i in range(300)) + "let a300 = 1 ;",
        "more than 250 definitions",
    ),
    "bodies": (
        "\n".join(f"let a{i} = body mass = 1, inertia = 1 end ;" for i in range(20_001)),
        "there are 20001 bodies; the limit is 20000",
    ),
}  # fmt: skip


def refused(read_it, text, words):
    read_value("1")
    begin = time.process_time()
    with pytest.raises(LiaisonError) as caught:
        read_it(text)
    assert time.process_time() - begin < SECONDS
    assert words in str(caught.value)
    assert len(str(caught.value)) < 6000


@pytest.mark.parametrize("limit", PAST)
def test_more_than_a_limit_is_refused_at_once_in_words(limit):
    refused(read_lsd, *PAST[limit])


LINKS = "".join(f"<link name='l{i}'/>" for i in range(20_001))
XML = {
    "bytes": ("<{0}>" + " " * 32_000_000 + "</{0}>", "the limit is 32000000"),
    "elements": ("<{0} name='r'>" + "<a/>" * 500_001 + "</{0}>", "more than 500000 elements"),
    "depth": ("<{0} name='r'>" + "<a>" * 70 + "</a>" * 70 + "</{0}>", "nested more than 64 deep"),
}


@pytest.mark.parametrize("limit", XML)
def test_more_xml_than_a_limit_is_refused_at_once_in_words(limit):
    text, words = XML[limit]
    refused(read_urdf, text.format("robot"), words)
    refused(reading_of_mjcf, text.format("mujoco"), words)


def test_more_bodies_than_a_limit_are_refused_in_every_language():
    said = "there are 20001 bodies; the limit is 20000"
    refused(read_urdf, f"<robot name='r'>{LINKS}</robot>", said)
    bodies = LINKS.replace("link", "body")
    refused(reading_of_mjcf, f"<mujoco><worldbody>{bodies}</worldbody></mujoco>", said)


@pytest.mark.parametrize(
    "text",
    [
        "let a = " + "(" * 95 + "1" + ")" * 95 + " ; start J = a ;",
        "let a = " + "sqrt(2+" * 45 + "1" + ")" * 45 + " ; start J = a ;",
        "let a = 2^1000 ;",
        "let a0 = 1 ; for i = 1 to 240 let a[i] = a[i-1] + 1 ; end ; start J = a240 ;",
    ],
    ids=["brackets", "calls", "exponent", "definitions"],
)
def test_less_than_a_limit_is_read_from_deep_inside_a_program(text):
    assert read_from(300, B + text).joint("J")


def read_from(level: int, text: str):
    return read_from(level - 1, text) if level else read_lsd(text)


def test_files_inside_files_have_a_limit(tmp_path):
    for i in range(10):
        (tmp_path / f"m{i}.lsd").write_text(f'include "m{i + 1}.lsd" ;\n')
    (tmp_path / "m10.lsd").write_text(B)
    assert read(tmp_path / "m3.lsd").joint("J")
    refused(read, tmp_path / "m0.lsd", "the limit is 100 files, 8 one inside another")


def test_many_files_have_a_limit(tmp_path):
    (tmp_path / "one.lsd").write_text("")
    (tmp_path / "all.lsd").write_text('include "one.lsd" ;\n' * 101 + B)
    refused(read, tmp_path / "all.lsd", "the limit is 100 files")


def test_a_file_has_a_limit(tmp_path):
    path = tmp_path / "large.lsd"
    path.write_bytes(b" " * 32_000_001)
    refused(read, path, "larger than 32000000 bytes")


def test_what_is_read_leaves_nothing_behind():
    """Python keeps names of attributes that were looked up; one made anew would stay each time."""
    for _ in range(20):
        read_lsd(B)
    gc.collect()
    before = sys.getallocatedblocks()
    for _ in range(120):
        read_lsd(B)
    gc.collect()
    assert sys.getallocatedblocks() - before < 60
