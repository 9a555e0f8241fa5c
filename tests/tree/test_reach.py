"""Loops of pivots that cannot reach around, proved by the inequality of polygons."""

import pytest

import liaison
from liaison.errors import AssemblyError
from liaison.formats import read_lsd


def four_bar(ground: str, kind: str = "revolute") -> str:
    rod = "body mass = 1 kg, inertia = [1, 1, 1] g*m^2 end"
    return f"""
    let a = {rod} ; let b = {rod} ; let c = {rod} ;
    let A = join earth and a with revolute end ;
    let B = join [10 cm, 0, 0] @ a and b with revolute end ;
    let C = join [20 cm, 0, 0] @ b and c with {kind} end ;
    let D = join [20 cm, 0, 0] @ c and [{ground}, 0, 0] @ earth with revolute end ;
    """


@pytest.mark.parametrize("ground", ["49.9 cm", "0.1 cm"])
def test_a_polygon_that_closes_is_assembled(ground: str) -> None:
    assert liaison.assemble(liaison.span(read_lsd(four_bar(ground)))).q.shape == (3,)


def test_the_longest_side_is_named_with_what_the_others_reach() -> None:
    said = r"on 'ground', 'A' and 'D' are 0.51 m apart, and the other parts .* reach 0.5 m"
    with pytest.raises(AssemblyError, match=said):
        liaison.assemble(liaison.span(read_lsd(four_bar("51 cm"))))


def test_nothing_is_proved_of_a_loop_that_slides() -> None:
    tree = liaison.span(read_lsd(four_bar("90 cm", kind="cylindrical axis = [1, 0, 0]")))
    assert liaison.assemble(tree).q.size == 3
