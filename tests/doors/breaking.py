"""Every example broken one way at a time: which words are replaced, and by which.

`(old, new)` replaces the first `old` of the example's text; `old` None appends `new` at the end.
The message each broken text must be refused with stands in wrong/<example>/<way>.txt.
"""

from pathlib import Path

EXAMPLES = Path(__file__).parents[2] / "examples"
WRONG = Path(__file__).parent / "wrong"

LOST = "\nlet lost = body mass = 1 kg, inertia = 0 end ;\n"
FAR = "\nlet far = join [9, 0, 0] m @ earth and {} with spherical end ;\n"
FARTHER = "\nlet farther = join [8, 0, 0] m @ earth and {} with spherical end ;\n"

Edit = tuple[str | None, str]

BREAKS: dict[str, dict[str, Edit]] = {
    "pendulum.lsd": {
        "unknown name": ("earth and bar", "earth and bra"),
        "duplicate name": ("let A = join", "let bar = join"),
        "zero axis": ("[0, -1, 0]", "[0, 0, 0]"),
        "negative mass": ("mass = m,", "mass = -1 kg,"),
        "impossible inertia": ("[1, 1, 0],", "[1, 3, 0],"),
        "unconnected body": (None, LOST),
        "loop cannot close": (None, FAR.format("[0, 0, -1] m @ bar")),
        "not finite": ("m = 1 kg", "m = 1e999 kg"),
        "wrong unit": ("m = 1 kg", "m = 1 lux"),
        "inconsistent start": ("start A' = 0 rad/s", "start A = 40 deg"),
    },
    "double_pendulum.lsd": {
        "unknown name": ("@ upper", "@ uper"),
        "duplicate name": ("let lower = body", "let upper = body"),
        "zero axis": ("revolute axis = [0, -1, 0]", "revolute axis = 0*[0, -1, 0]"),
        "negative mass": ("mass = 0.8 kg", "mass = -0.8 kg"),
        "impossible inertia": ("mass = 1 kg,", "mass = 1 kg, inertia = [1, 2, 4] g*m^2,"),
        "unconnected body": (None, LOST),
        "loop cannot close": (None, FAR.format("[0, 0, -l2] @ lower")),
        "not finite": ("l2 = 0.4 m", "l2 = 4/(l1 - l1)"),
        "wrong unit": ("l1*sin(A) + l2*sin(A + B)", "l1 + A"),
        "inconsistent start": ("start B = -20 deg", "start B = 20 cm"),
    },
    "elliptic_pendulum.lsd": {
        "unknown name": ("*y' + m2", "*y' + m3"),
        "duplicate name": ("parameter m2", "parameter m1"),
        "zero axis": ("axis = [1, 0, 0]", "axis = [0, 0, 0] m"),
        "negative mass": ("m2 = 1 kg", "m2 = -1 kg"),
        "impossible inertia": ("inertia = 0,  ", "inertia = [m1*a^2, 0, 0],  "),
        "unconnected body": (None, LOST),
        "loop cannot close": (None, FAR.format("thread")),
        "not finite": ("a = 0.8 m", "a = 0.8e400 m"),
        "wrong unit": ("a = 0.8 m", "a = 0.8 s"),
        "inconsistent start": ("start y' =", "start x' ="),
    },
    "spinning_top.lsd": {
        "unknown name": ("earth and top", "earth and tpo"),
        "duplicate name": ("output axis_y", "output axis_x"),
        "zero axis": ("20 deg || [1, 0, 0]", "20 deg || [0, 0, 0]"),
        "negative mass": ("0.5 kg", "-0.5 kg"),
        "impossible inertia": ("[4, 4, 6]", "[4, 4, 60]"),
        "unconnected body": (None, LOST),
        "loop cannot close": (None, FAR.format("[0, 0, 8] cm @ top")),
        "not finite": ("[0, 0, 1500] rpm", "[0, 0, nan] rpm"),
        "wrong unit": ("kg*cm^2", "kg*cm"),
        "inconsistent start": ("[0, 0, 1500] rpm", "[0, 0, 1500, 3] rpm"),
    },
    "four_bar.lsd": {
        "unknown name": ("crank and coupler", "crank and coupeler"),
        "duplicate name": ("let C = join", "let B = join"),
        "zero axis": ("earth and rocker with revolute axis = [0, -1, 0]",
                      "earth and rocker with revolute axis = [0, 0, 0]"),
        "negative mass": ("mass = 0.5 kg", "mass = -0.5 kg"),
        "impossible inertia": ("[0, 1, 1] * 0.6 kg", "[0, 1, 2] * 0.6 kg"),
        "unconnected body": (None, LOST),
        "loop cannot close": ("d = 0.45 m", "d = 0.9 m"),
        "not finite": ("b = 0.30 m", "b = 1e999999 m"),
        "wrong unit": ("mass = 0.2 kg", "mass = 0.2 m"),
        "inconsistent start": ("guess D = atan2(4, -3)", "start D = 0"),
    },
    "slider_crank.lsd": {
        "unknown name": ("end on A ;", "end on Z ;"),
        "duplicate name": ("input drive", "input x"),
        "zero axis": ("prismatic axis = [1, 0, 0]", "prismatic axis = [0, 0, 0]"),
        "negative mass": ("mass = 2 kg", "mass = -2 kg"),
        "impossible inertia": ("[2, 4, 2]", "[2, 4.1, 2]"),
        "unconnected body": (None, LOST),
        "loop cannot close": ("start A = 90 deg ;\nstart B = -90 deg - atan2(5, 12) ;\n"
                              "start x = 12 cm", "start x = 30 cm"),
        "not finite": ("r = 5 cm", "r = infinity"),
        "wrong unit": ("drive = 0 N*m", "drive = 0 N"),
        "inconsistent start": ("start x = 12 cm", "start x = 11 cm"),
    },
    "stewart.lsd": {
        "unknown name": ("rod3 and head3 @ plate", "rod3 and head3 @ palte"),
        "duplicate name": ("let rod2 =", "let rod1 ="),
        "zero axis": ("with prismatic end", "with prismatic axis = [0, 0, 0] end"),
        "negative mass": ("mass = 10 kg", "mass = -10 kg"),
        "impossible inertia": ("[8, 8, 0.3]", "[8, 8, 30]"),
        "unconnected body": (None, LOST),
        "loop cannot close": (None, FAR.format("plate") + FARTHER.format("plate")),
        "not finite": ("k = 2 kN/m", "k = 2e5000 kN/m"),
        "wrong unit": ("k = 2 kN/m", "k = 2 kN"),
        "inconsistent start": ("start P6 = norm(leg6)", "start P6 = 3 m"),
    },
    "gimbals.lsd": {
        "unknown name": ("outer and inner with revolute", "outer and inner with revolut"),
        "duplicate name": ("let spin = join", "let B = join"),
        "zero axis": ("axis = [0, 0, 1]", "axis = [0, 0, 0]"),
        "negative mass": ("mass = 0.3 kg", "mass = -0.3 kg"),
        "impossible inertia": ("[7, 7, 12.5]", "[7, -7, 12.5]"),
        "unconnected body": ("outer and inner", "rotor and inner"),
        "loop cannot close": (None, FAR.format("rotor")),
        "not finite": ("1200 rpm", "1/0"),
        "wrong unit": ("1200 rpm", "1200 rad"),
        "inconsistent start": ("start spin'", "start spni'"),
    },
    "satellite.lsd": {
        "unknown name": ("join satellite.frame", "join S1.frame"),
        "duplicate name": ("let bras_secondeaire", "let bras_primaire"),
        "zero axis": ("th || [1,0,0]", "th || [0,0,0]"),
        "negative mass": ("satellite.mass = 400 kg", "satellite.mass = -400 kg"),
        "impossible inertia": ("inertia.y = 150", "inertia.y = 250"),
        "unconnected body": ("let reflecteur", "let lost = body end ;\nlet reflecteur"),
        "loop cannot close": (None, FAR.format("bras_primaire")
                              + "start ground_satellite.x = 0 ; start ground_satellite.y = 0 ; "
                              "start ground_satellite.z = 0 ;\n"),
        "not finite": ("0.6 m", "NaN"),
        "wrong unit": ("0.6 m", "0.6 kg"),
        "inconsistent start": ("start ground_satellite.th = 60 deg",
                               "start ground_satellite = [0, 0, 0]"),
    },
    "arm7.urdf": {
        "unknown name": ('<child link="forearm"/>', '<child link="foream"/>'),
        "duplicate name": ('<link name="forearm">', '<link name="elbow_yaw">'),
        "zero axis": ('<axis xyz="0 -1 0"/>', '<axis xyz="0 0 0"/>'),
        "negative mass": ('<mass value="2.8"/>', '<mass value="-2.8"/>'),
        "impossible inertia": ('ixx="0.0007"', 'ixx="0.007"'),
        "unconnected body": ("</robot>", '<link name="lost"/>\n</robot>'),
        "loop cannot close": ('<child link="gripper"/>', '<child link="base"/>'),
        "not finite": ('<mass value="0.3"/>', '<mass value="nan"/>'),
        "wrong unit": ('<mass value="0.5"/>', '<mass value="0.5 kg"/>'),
        "wrong count": ('<axis xyz="0 -1 0"/>', '<axis xyz="0 -1"/>'),  # URDF has no start,
    },
}  # fmt: skip


def broken(example: str, way: str) -> str:
    """The example's text, broken in this way."""
    text = (EXAMPLES / example).read_text(encoding="utf-8")
    old, new = BREAKS[example][way]
    if old is None:
        return text + new
    assert old in text, f"{example} has no longer {old!r}"
    return text.replace(old, new, 1)


def expected(example: str, way: str) -> Path:
    """Where the message stands."""
    return WRONG / Path(example).stem / f"{way.replace(' ', '_')}.txt"
