"""Texts that want to hang, crash or reach out end in a typed refusal within a second."""

import time

import pytest

from liaison.errors import LiaisonError
from liaison.formats import read_lsd, read_urdf, read_value

SECONDS = 1.0

LSD = {
    "brackets": "let a = " + "(" * 100_000 + ";",
    "vectors": "let a = " + "[" * 5_000 + ";",
    "nested calls": "let a = " + "sin(" * 3_000 + "1" + ")" * 3_000 + ";",
    "minus signs": "let a = " + "-" * 15_000 + "1 ;",
    "powers": "let a = " + "2^" * 5_000 + "2 ;",
    "tower": "let a = 9^9^9^9 ;",
    "products": "let a = " + "1e300*" * 2_000 + "1 ;",
    "members": "let a = b" + ".x" * 5_000 + " ;",
    "primes": "let a = b" + "'" * 10_000 + " ;",
    "comments": "(*" * 200_000,
    "closing comments": "*)" * 200_000,
    "one long line": "let a = " + "1+" * 500_000 + "1 ;",
    "one long word": "a" * 1_000_000,
    "one long number": "let a = " + "9" * 15_000 + " ;",
    "huge exponent": "let a = 1e999999 ;",
    "huge exponent word": "let a = 1e" + "9" * 10_000 + " ;",
    "tiny exponent": "let a = 1e-" + "9" * 10_000 + " ;",
    "unit powers": "let a = 1 m^" + "9" * 10_000 + " ;",
    "binary": "\0\1\2" * 1000,
    "only NUL": "let a = \0 ;",
    "chain of names": "".join(f"let a{i} = a{i + 1} ;\n" for i in range(5_000)),
    "ring of names": "".join(f"let a{i} = a{(i + 1) % 300} ;\n" for i in range(300)),
    "growing fractions": "let a = 1" + "".join(f"\n+ 1/{10**6 + i}" for i in range(3000)) + ";",
    "too large": "(* *)\n" * 900_000,
    "unclosed text": 'let a = "' + "x" * 10_000,
    "large together": "let a = body mass = 1e300, inertia = 1e300 * [1,1,1] end ;"
    "let J = join earth and [1e300, 1e300, 0] @ a with revolute axis = [1e300, 1e300, 1] end ;",
    "products of vectors": "let a = body mass = 1 kg, center = " + "[1,2,3]*" * 40 + "1 m end ;",
    "python": "__import__('os').system('true') ;",
}  # fmt: skip


@pytest.mark.parametrize("name", LSD)
def test_a_hostile_lsd_text_is_refused_at_once(name):
    read_value("1")  # the grammar is made once, and not counted here
    begin = time.process_time()
    with pytest.raises(LiaisonError):
        read_lsd(LSD[name])
    assert time.process_time() - begin < SECONDS


def test_long_sums_and_lists_are_no_nesting():
    terms = "\n+ ".join(["1"] * 3_000)
    body = "let b = body mass = a, inertia = 1 end ; join earth and b with free end ;"
    assert read_lsd(f"let a = {terms} ; {body}").body("b").mass == 3_000


ROBOT = '<robot name="r"><link name="base"/>{}</robot>'
BOMB = (
    '<!DOCTYPE r [<!ENTITY a0 "x">'
    + "".join(f'<!ENTITY a{i + 1} "{f"&a{i};" * 10}">' for i in range(9))
    + ']><robot name="&a9;"><link name="base"/></robot>'
)
URDF = {
    "bomb": BOMB,
    "external entity": '<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>'
    '<robot name="&x;"><link name="base"/></robot>',
    "deep": "<robot name='r'>" + "<a>" * 200_000,
    "binary": "\0\0\0\0",
    "NUL inside": ROBOT.format("\0"),
    "empty": "",
    "long attribute": f'<robot name="{"x" * 1_000_000}"><link name="a"/><link name="b"/></robot>',
    "large together": ROBOT.format(
        '<link name="a"><inertial><origin rpy="1 2 3"/><mass value="1"/>'
        '<inertia ixx="1e308" iyy="1e308" izz="1e308" ixy="1e308" ixz="0" iyz="0"/></inertial>'
        '</link><joint name="j" type="revolute"><parent link="base"/><child link="a"/>'
        '<axis xyz="1e300 1e300 1"/></joint>'
    ),
    "huge number": ROBOT.format(
        '<link name="a"><inertial><mass value="1e999999"/></inertial></link>'
    ),
}


@pytest.mark.parametrize("name", URDF)
def test_a_hostile_urdf_text_is_refused_at_once(name):
    begin = time.process_time()
    with pytest.raises(LiaisonError):
        read_urdf(URDF[name])
    assert time.process_time() - begin < SECONDS
