"""Small pictures of mechanisms with many triangles, and a page of cards with them.

Solids are sampled as points, and of the points that fall on one dot of the picture the nearest is
kept: the time it takes hardly depends on how fine meshes are.

Public names: picture, card, page.
"""

from __future__ import annotations

import base64
import io
from collections.abc import Iterable, Mapping
from html import escape

import numpy as np
from numpy.typing import NDArray
from PIL import Image

import liaison
from liaison.model import Mechanism
from liaison.model.values import floats
from liaison.numeric.state import State
from liaison.simulation.record.series import Series
from liaison.tree.kinematics import Kinematics
from liaison.view.camera import camera
from liaison.view.drawing import Drawing, drawing
from liaison.view.solids import Piece, cube, globe, pillar

Array = NDArray[np.float64]

WIDE, HIGH, FINE = 300, 230, 2
"""Of a picture, and how many times as many dots are computed each way."""

DENSE, MOST = 4.0, 3_000_000
"""Points on a dot, and at most in a picture."""

COLORS = 96
FULL = 0.94
"""How much of the picture is filled."""

LIGHTS = ((np.array([0.45, 0.62, 0.64]), 0.55), (np.array([-0.8, 0.1, 0.6]), 0.2))
"""Directions of light in axes of the picture (right, up, towards the eye), and how strong."""


def standing(mechanism: Mechanism) -> liaison.Trajectory:
    """One instant: the mechanism where it starts, its loops closed."""
    tree = liaison.span(mechanism)
    state = liaison.assemble(tree)
    moved = Kinematics(tree, np.asarray(state.q))
    poses = {}
    for body, (node, (R_NB, p_NB)) in tree.frames.items():
        frame = moved.motion(-1, node)
        R = np.array(frame.R, dtype=float)
        p = R @ np.array(p_NB, dtype=float) + np.array(frame.p, dtype=float)
        poses[body] = np.column_stack([R @ np.array(R_NB, dtype=float), p])
    series = {"poses": Series.of_poses(np.array([list(poses.values())]), tuple(poses))}
    return trajectory_at(mechanism.name, state, series)


def trajectory_at(name: str, state: State, series: Mapping[str, Series]) -> liaison.Trajectory:
    """A run of one instant."""
    q, v = np.array([state.q]), np.array([state.v])
    return liaison.Trajectory(name, np.zeros(1), q, v, state.labels, series)


def picture(mechanism: Mechanism) -> tuple[bytes, int]:
    """A PNG of the mechanism where it starts, and how many of its surfaces are missing."""
    drawn = drawing(standing(mechanism), mechanism)
    corners, colors = triangles(drawn)
    look = camera(drawn.reached, drawn.up)
    back = look.position - look.target
    distance = float(np.linalg.norm(back))
    right = np.cross(look.up, back)
    axes = np.stack([right / np.linalg.norm(right), np.zeros(3), back / distance])
    axes[1] = np.cross(axes[2], axes[0])
    return png(painted((corners - look.position) @ axes.T, colors)), len(drawn.missing)


def triangles(drawn: Drawing) -> tuple[Array, Array]:
    """Corners in the world [m], shape (m, 3, 3), and colors and opacity from 0 to 1, (m, 4)."""
    corners, colors = [], []
    for body, pieces in drawn.pieces.items():
        X = drawn.poses[body][0]
        for piece in pieces:
            own = surface(piece) @ (X[:, :3] @ piece.R).T + X[:, :3] @ piece.p + X[:, 3]
            corners.append(own)
            colors.append(np.tile([*np.array(piece.color) / 255, piece.opacity], (len(own), 1)))
    if not corners:
        return np.zeros((0, 3, 3)), np.zeros((0, 4))
    return np.concatenate(corners), np.concatenate(colors)


def surface(piece: Piece) -> Array:
    """Corners of the triangles of a solid in its axes, shape (m, 3, 3)."""
    if piece.surface is not None:
        return piece.surface.vertices[piece.surface.faces]
    unit = {"box": cube, "cylinder": pillar, "sphere": globe}[piece.kind]()
    size = np.array(piece.size)
    scale = size if piece.kind == "box" else size[[0, 0, -1]]
    return (unit.vertices * scale)[unit.faces]


def painted(corners: Array, colors: Array) -> Array:
    """Colors of the dots, shape (FINE·HIGH, FINE·WIDE, 4), from corners in axes of the eye."""
    seen = corners[..., :2] / np.maximum(-corners[..., 2:], 1e-9)
    canvas = np.zeros((FINE * HIGH, FINE * WIDE, 4))
    if not len(seen):
        return canvas
    low, high = seen.min(axis=(0, 1)), seen.max(axis=(0, 1))
    scale = FULL * FINE * float(np.min([WIDE, HIGH] / np.maximum(high - low, 1e-12)))
    flat = (seen - (low + high) / 2) * scale + FINE * np.array([WIDE, HIGH]) / 2
    which, weights = sampled(flat)
    dots = np.einsum("nk,nkj->nj", weights, flat[which])
    depth = np.einsum("nk,nk->n", weights, corners[which, :, 2])
    order = np.argsort(depth, kind="stable")  # the nearest last
    x, y = dots[order].astype(int).T
    inside = (x >= 0) & (x < FINE * WIDE) & (y >= 0) & (y < FINE * HIGH)
    shaded = np.column_stack([colors[:, :3] * light(corners)[:, None], colors[:, 3]])
    canvas[FINE * HIGH - 1 - y[inside], x[inside]] = shaded[which[order][inside]]
    return canvas


def sampled(flat: Array) -> tuple[NDArray[np.int64], Array]:
    """Triangles of points that are spread over them, and their parts of the corners."""
    a, b = flat[:, 1] - flat[:, 0], flat[:, 2] - flat[:, 0]
    area = np.abs(a[:, 0] * b[:, 1] - a[:, 1] * b[:, 0]) / 2
    dense = min(DENSE, MOST / max(float(area.sum()), 1.0))
    rng = np.random.default_rng(0)
    count = np.floor(dense * area + rng.random(len(area))).astype(int)
    count = np.maximum(count, (area > 0).astype(int))
    which = np.repeat(np.arange(len(flat)), count)
    s, t = rng.random((2, len(which)))
    s, t = np.where(s + t > 1, 1 - s, s), np.where(s + t > 1, 1 - t, t)
    return which, np.column_stack([1 - s - t, s, t])


def light(corners: Array) -> Array:
    """How bright triangles are; both sides of them are."""
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normal, axis=1)
    normal /= np.where(length > 0, length, 1.0)[:, None]
    normal *= np.where(np.einsum("nj,nj->n", normal, corners[:, 0]) > 0, -1.0, 1.0)[:, None]
    shares = [share * np.maximum(normal @ way, 0.0) for way, share in LIGHTS]
    return np.asarray(0.5 + sum(shares))


def png(canvas: Array) -> bytes:
    """Dots of the picture from finer ones, as a PNG of few colors."""
    fine = canvas.reshape(HIGH, FINE, WIDE, FINE, 4)
    cover = fine[..., 3:].mean(axis=(1, 3))
    color = (fine[..., :3] * fine[..., 3:]).mean(axis=(1, 3)) / np.maximum(cover, 1e-9)
    dots = np.clip(255 * np.concatenate([color, cover], axis=-1), 0, 255).astype(np.uint8)
    small, image = io.BytesIO(), Image.fromarray(dots, "RGBA")
    image.quantize(COLORS, method=Image.Quantize.FASTOCTREE).save(
        small, format="PNG", optimize=True
    )
    return small.getvalue()


def described(mechanism: Mechanism) -> dict[str, str]:
    """What a mechanism has, in words and numbers."""
    bodies = len(mechanism.bodies) - 1
    loops = len(mechanism.joints) - bodies
    known = {x.name: float(floats(x.value, {})) for x in mechanism.parameters if x.value}
    mass = sum(float(floats(x.mass, known)) for x in mechanism.bodies[1:])
    counts = {
        "bodies": bodies,
        "loops": loops,
        "mass": f"{mass:.4g} kg" if mass else 0,
        "motors": len(mechanism.inputs),
        "outputs": len(mechanism.outputs),
        "contacts, stops": len(mechanism.contacts),
    }
    return {name: str(x) for name, x in counts.items() if x}


def card(
    head: str, kind: str, status: str, facts: Mapping[str, str], lines: Iterable[str], image: bytes
) -> str:
    """One mechanism: its picture, what it has, and what is to be said of it."""
    shown = (
        f'<img alt="" loading="lazy" width="{WIDE}" height="{HIGH}" '
        f'src="data:image/png;base64,{base64.b64encode(image).decode()}">'
        if image
        else '<div class="none">no picture</div>'
    )
    entries = "".join(f"<dt>{escape(k)}</dt><dd>{escape(x)}</dd>" for k, x in facts.items())
    notes = "".join(f"<li>{escape(x)}</li>" for x in lines)
    more = f"<details><summary>Notes</summary><ul>{notes}</ul></details>" if notes else ""
    name, folder = head.rsplit("/", 1)[-1], head.rpartition("/")[0]
    return (
        f'<article class="{escape(status)}">{shown}<h2>{escape(name)}</h2>'
        f'<p class="where">{escape(folder)}</p>'
        f"<p><b>{escape(status)}</b> · {escape(kind)}</p><dl>{entries}</dl>{more}</article>"
    )


STYLE = """
:root { color-scheme: light dark; font: 15px/1.4 system-ui, sans-serif; }
body { margin: 1.5rem auto; max-width: 84rem; padding: 0 1rem; }
label { display: block; margin: 1rem 0; }
input { font: inherit; padding: .3rem .5rem; width: min(22rem, 90%); }
main { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(15rem, 1fr)); }
article { border: 1px solid #8886; border-radius: .5rem; overflow: hidden; padding: .8rem; }
article img { display: block; height: auto; max-width: 100%; }
.none { align-content: center; aspect-ratio: 30 / 23; color: gray; text-align: center; }
h2 { font-size: 1rem; margin: .4rem 0 0; overflow-wrap: anywhere; }
p { margin: .2rem 0; } .where { color: gray; font-size: .8rem; overflow-wrap: anywhere; }
b { color: #1a7f37; } .refused b, .differs b { color: #c4321f; } .read b { color: #8a6300; }
@media (prefers-color-scheme: dark) {
  b { color: #4ac26b; } .refused b, .differs b { color: #ff7b6b; } .read b { color: #e3b341; }
}
dl { display: grid; font-size: .85rem; grid-template-columns: auto 1fr; gap: 0 .8rem; }
dl { margin: .4rem 0; }
dt { color: gray; } dd { margin: 0; } details { font-size: .8rem; } ul { padding-left: 1.1rem; }
"""
SEARCH = """
document.querySelector("input").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\\s+/).filter(Boolean);
  for (const one of document.querySelectorAll("article")) {
    const text = one.textContent.toLowerCase();
    one.hidden = !words.every((x) => text.includes(x));
  }
});
"""


def page(title: str, summary: Iterable[str], cards: Iterable[str]) -> str:
    """A page of cards that can be searched, in one file."""
    lines = "".join(f"<p>{escape(x)}</p>" for x in summary)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{STYLE}</style><h1>{escape(title)}</h1>"
        f'{lines}<label>Search <input type="search" placeholder="names, words of notes"></label>'
        f"<main>{''.join(cards)}</main><script>{SEARCH}</script></html>"
    )
