"""Writes docs/gallery.md: every shipped mechanism with loops, its picture and its mobility.

Pictures of the robots in `examples/robots`, too, for docs/robots.md.

python docs/gallery.py          (or: make gallery)

Verdicts come from `liaison.mobility` with its defaults, pictures from a run: the start, and pale
where the mechanism is a moment later.
"""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import matplotlib as mpl
import numpy as np
from matplotlib.collections import PolyCollection
from matplotlib.figure import Figure
from PIL import Image

import liaison
from liaison.view.camera import camera
from liaison.view.drawing import drawing
from liaison.view.solids import Piece

HERE = Path(__file__).parent
EXAMPLES = HERE.parent / "examples"
PAGE, PICTURES = HERE / "gallery.md", HERE / "gallery"

SIZE, DOTS, COLORS = (3.2, 2.4), 110, 48
LIGHT = np.array([0.35, 0.25, 0.9]) / np.linalg.norm([0.35, 0.25, 0.9])
PALE = 0.22
"""How much of its color what is a moment later keeps."""

MOMENT = {"four_bar": 0.06, "slider_crank": 0.03, "slider_crank_offset": 0.03, "stewart": 0.3,
          "stewart_welded": 0.3, "antenna_mesh": 1.5, "antenna_shared": 1.5, "antenna_double": 1.5,
          "door": 0.8, "three_upu": 1.0}  # fmt: skip
"""How long a moment is [s]; 0.3 for those not named."""

HEAD = """# Gallery

Every shipped mechanism with loops, and what `liaison mobility` says of it. In the pictures the
mechanism stands in its start, and pale where it is a moment later. Page and pictures are made by
`make gallery`; the terms are defined in [theory/mobility.md](theory/mobility.md).

*n* joint degrees of freedom, *eq.* equations, *count* by Grübler, *naive* rank off the variety,
*rank* in the position, *first* first-order mobility.

"""


def faces(piece: Piece) -> Iterator[np.ndarray]:
    """Polygons of a solid on its body, shape (k, 3) each."""
    for points in _own_faces(piece):
        yield points @ piece.R.T + piece.p


def _own_faces(piece: Piece) -> Iterator[np.ndarray]:
    if piece.kind == "box":
        yield from _prism(np.array([(1, 1), (-1, 1), (-1, -1), (1, -1)]) * piece.size[:2] / 2,
                          piece.size[2])  # fmt: skip
    elif piece.kind == "cylinder":
        turn = np.linspace(0, 2 * np.pi, 17)[:-1]
        yield from _prism(piece.size[0] * np.column_stack([np.cos(turn), np.sin(turn)]),
                          piece.size[1])  # fmt: skip
    elif piece.kind == "sphere":
        yield from _ball(piece.size[0])


def _prism(outline: np.ndarray, height: float) -> Iterator[np.ndarray]:
    low = np.column_stack([outline, np.full(len(outline), -height / 2)])
    high = low + np.array([0, 0, height])
    yield high
    yield low[::-1]
    for k in range(len(outline)):
        yield np.array([low[k - 1], low[k], high[k], high[k - 1]])


def _ball(radius: float) -> Iterator[np.ndarray]:
    lift, turn = np.linspace(-np.pi / 2, np.pi / 2, 8), np.linspace(0, 2 * np.pi, 13)
    grid = np.array([[(np.cos(a) * np.cos(b), np.cos(a) * np.sin(b), np.sin(a)) for b in turn]
                     for a in lift])  # fmt: skip
    for i in range(len(lift) - 1):
        for j in range(len(turn) - 1):
            yield radius * np.array([grid[i, j], grid[i, j + 1], grid[i + 1, j + 1],
                                     grid[i + 1, j]])  # fmt: skip


def painted(drawn: Any, instant: int, share: float) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Polygons in the world with their shaded colors, those turned to the light brightest."""
    for body, pieces in drawn.pieces.items():
        pose = drawn.poses[body][instant]
        for piece in pieces:
            color = np.array(piece.color) / 255
            for points in faces(piece):
                there = points @ pose[:, :3].T + pose[:, 3]
                normal = np.cross(there[1] - there[0], there[2] - there[1])
                length = np.linalg.norm(normal)
                bright = 0.75 + 0.3 * float(normal @ LIGHT / length) if length else 0.8
                yield there, 1 - share * (1 - np.clip(color * bright, 0, 1))


def picture(run: Any, mechanism: Any) -> bytes:
    """A small PNG of the start, and pale of the end."""
    drawn = drawing(run, mechanism)
    seen = camera(drawn.reached, drawn.up)
    ahead = (seen.target - seen.position) / np.linalg.norm(seen.target - seen.position)
    side = np.cross(ahead, drawn.up) / np.linalg.norm(np.cross(ahead, drawn.up))
    top = np.cross(side, ahead)
    figure = Figure(figsize=SIZE, dpi=DOTS)
    axes = figure.add_axes((0, 0, 1, 1))
    for instant, share in ((-1, PALE), (0, 1.0)):
        listed = sorted(painted(drawn, instant, share), key=lambda x: -float(x[0].mean(0) @ ahead))
        flat = [np.column_stack([points @ side, points @ top]) for points, _ in listed]
        colors = [color for _, color in listed]
        if len(run) > 1 or share == 1.0:
            axes.add_collection(PolyCollection(flat, facecolors=colors, edgecolors=colors, lw=0.3))
    axes.autoscale_view()
    axes.set_aspect("equal")
    axes.axis("off")
    return compressed(figure)


def compressed(figure: Figure) -> bytes:
    """The figure as a PNG of few colors."""
    raw, small = io.BytesIO(), io.BytesIO()
    figure.savefig(raw, format="png")
    image = Image.open(raw).convert("RGB").quantize(COLORS)
    image.save(small, format="PNG", optimize=True)
    return small.getvalue()


def closed() -> list[str]:
    """Names of the examples with loops."""
    names = sorted(path.stem for path in EXAMPLES.glob("*.lsd"))
    return [name for name in names if liaison.span(liaison.read(EXAMPLES / f"{name}.lsd")).loops]


def row(name: str, found: liaison.Mobility) -> str:
    """One line of the table."""
    low, high = found.finite
    finite = f"{low}" if low == high else f"{low}–{high}"
    sure = "proved" if found.is_proved else "likely"
    return (
        f"| [{name}](#{name}) | {found.unknowns} | {found.equations} | {found.gruebler} | "
        f"{found.naive_rank} | {found.rank} | {found.first_order} | **{finite}** | "
        f"{found.status} | {sure} |"
    )


def section(name: str, found: liaison.Mobility) -> str:
    """Picture and verdict of one example."""
    lines = [line.strip() for line in str(found).splitlines()]
    kept = [line for line in lines[1:] if not line.startswith(("Modulo", "Note:"))]
    return "\n".join(
        [f"## {name}", "", f"![{name}](gallery/{name}.png)", "",
         f"[{name}.lsd](../examples/{name}.lsd) – {lines[0]}", "", *(f"- {x}" for x in kept), ""]
    )  # fmt: skip


def moved(mechanism: liaison.Mechanism, moment: float) -> liaison.Trajectory:
    """What it does in a moment; what cannot move, where it stands."""
    try:
        return liaison.simulate(mechanism, until=moment, on_failure="return")
    except liaison.DerivationError:
        state = liaison.assemble(liaison.span(mechanism))
        return liaison.simulate(liaison.compile(mechanism), state, until=1e-9)


ROBOTS: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "delta.lsd": ({}, {"inputs": {"target1": 0.1, "target2": 0.6, "target3": 0.8}}),
    "gripper.urdf": ({"motors": "position"}, {"inputs": {"left_drive.target": 0.6}}),
    "parallel_leg.urdf": (
        {"ground": True, "motors": "position", "pose": "crouch"},
        {"inputs": {"front_hip.target": -0.3, "rear_hip.target": 0.3}},
    ),
    "quadruped.urdf": (
        {"floating": True, "ground": True, "motors": "position", "pose": "stand"},
        {"method": "moreau", "step": 1e-3},
    ),
}
"""Robot -> keywords of its reader, and of a run."""


def robots() -> None:
    """Makes the pictures of the robots."""
    (HERE / "robots").mkdir(exist_ok=True)
    for name, (reader, runner) in ROBOTS.items():
        path = EXAMPLES / "robots" / name
        srdf = {"srdf": path.with_suffix(".srdf")} if "pose" in reader else {}
        mechanism = liaison.read(path, **reader, **srdf)
        run = liaison.simulate(mechanism, until=0.4, **runner)
        place = HERE / "robots" / f"{path.stem}.png"
        place.write_bytes(picture(run, mechanism))
        print(name, place.stat().st_size, "bytes", flush=True)


def main() -> None:
    """Makes all pictures and the page."""
    mpl.use("Agg")
    robots()
    PICTURES.mkdir(exist_ok=True)
    table = ["| mechanism | n | eq. | count | naive | rank | first | finite | status | |",
             "|---|---|---|---|---|---|---|---|---|---|"]  # fmt: skip
    sections = []
    for name in closed():
        mechanism = liaison.read(EXAMPLES / f"{name}.lsd")
        found = liaison.mobility(mechanism)
        run = moved(mechanism, MOMENT.get(name, 0.3))
        (PICTURES / f"{name}.png").write_bytes(picture(run, mechanism))
        table.append(row(name, found))
        sections.append(section(name, found))
        print(name, found.finite, (PICTURES / f"{name}.png").stat().st_size, "bytes", flush=True)
    PAGE.write_text(HEAD + "\n".join([*table, "", *sections]), encoding="utf-8")


if __name__ == "__main__":
    main()
