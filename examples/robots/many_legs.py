"""Thousands of closed-loop legs on the ground, each with targets of its own, in one page.

    python examples/robots/many_legs.py legs.html [COUNT] [DEVICE]

Worlds of `parallel_leg.urdf` begin at random heights; every 0.1 s the motors of each leg are given
random targets. All step together on a GPU, or on this computer where there is none (DEVICE is "gpu"
or "processor"). The page draws every leg of every picture from its recorded positions.
"""

import base64
import html
import sys
import time
from pathlib import Path

import numpy as np

import liaison
from liaison.errors import LiaisonError

HERE = Path(__file__).resolve().parent
STEP, HOLD, PICTURES, EVERY = 1e-3, 100, 75, 40
SEED, SPREAD = 3, 0.05
FOOT, GRID = (0.0, 0.0, -0.2), 0.45  # the foot in its shin; metres from leg to leg
NEAR, FAR = -0.45, 0.55  # what a whole number of 16 bits spans [m]


def legs(count: int, device: str) -> liaison.Worlds:
    """Worlds of the leg, at random starts."""
    robot = liaison.read(
        HERE / "parallel_leg.urdf", ground=True, motors="position",
        srdf=HERE / "parallel_leg.srdf", pose="crouch",
    )  # fmt: skip
    worlds = liaison.worlds(robot, count, step=STEP, device=device)
    worlds.reset(spread=SPREAD, seed=SEED)
    return worlds


def marched(worlds: liaison.Worlds) -> tuple[np.ndarray, float]:
    """Positions of all legs at each picture, shape (pictures, nq, legs), and the time it took."""
    rng = np.random.default_rng(SEED)
    rows, pictures = PICTURES * EVERY // HOLD, []
    targets = rng.uniform(-1, 1, (rows, 2, worlds.count)) * 0.35 + np.array([[-0.8], [0.8]])
    begin = time.perf_counter()
    for picture in range(PICTURES):
        pictures.append(worlds.place.numpy(worlds.q))
        worlds.step(EVERY, inputs=targets[picture * EVERY // HOLD])
    is_lost = worlds.lost  # waits for the last step
    print(f"{is_lost} of {worlds.count} worlds are lost.")
    return np.array(pictures), time.perf_counter() - begin


def points(worlds: liaison.Worlds, q: np.ndarray) -> np.ndarray:
    """x and z of knee, hip, hip, knee, foot of each leg, shape (pictures, 5, 2, legs)."""
    kernel = worlds.plan.kernel
    flat = np.moveaxis(q, 1, 0).reshape(q.shape[1], -1)
    blocks = kernel.batch("poses", q=flat, v=np.zeros_like(flat)).reshape(-1, 12, flat.shape[1])
    names = [name for name, _ in worlds.plan.program.entry("poses").layout]
    pose = {name: blocks[k] for k, name in enumerate(names)}
    places = [pose[x][9:12] for x in ("rear_shin", "rear_thigh", "front_thigh", "front_shin")]
    turn = pose["front_shin"][:9].reshape(3, 3, -1)
    places.append(pose["front_shin"][9:12] + np.einsum("ijn,j->in", turn, FOOT))
    planar = np.array(places)[:, (0, 2)]
    return np.moveaxis(planar.reshape(5, 2, len(q), -1), 2, 0)


def page(drawn: np.ndarray, title: str, note: str) -> str:
    """One file that makes no request."""
    whole = np.round((drawn - NEAR) / (FAR - NEAR) * 65535.0)
    if whole.min() < 0 or whole.max() > 65535:
        raise SystemExit(f"a leg left the picture: {drawn.min():.3g} … {drawn.max():.3g} m.")
    data = base64.b64encode(whole.astype("<u2").tobytes()).decode()
    side = int(np.ceil(np.sqrt(drawn.shape[-1])))
    numbers = {
        "LEGS": drawn.shape[-1], "SIDE": side, "PICTURES": len(drawn), "GRID": GRID,
        "NEAR": NEAR, "FAR": FAR, "MS": 1000 * EVERY * STEP,
    }  # fmt: skip
    script = SCRIPT
    for name, value in numbers.items():
        script = script.replace(f"@{name}@", str(value))
    text = PAGE.replace("@SCRIPT@", script).replace("@DATA@", data)
    return text.replace("@TITLE@", html.escape(title)).replace("@NOTE@", html.escape(note))


PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>@TITLE@</title>
<style>
body { margin: 0; font: 14px system-ui, sans-serif; background: #f7f6f3; color: #222; }
header { padding: 10px 16px; } h1 { font-size: 18px; margin: 0 0 4px; } canvas { display: block; }
</style></head><body>
<header><h1>@TITLE@</h1><div>@NOTE@</div>
<label>time <input id="time" type="range" min="0" value="0"></label>
<button id="play">pause</button> <output id="now"></output></header>
<canvas id="all"></canvas>
<script type="text/plain" id="data">@DATA@</script>
<script>@SCRIPT@</script>
</body></html>
"""

SCRIPT = """
const legs = @LEGS@, side = @SIDE@, pictures = @PICTURES@, grid = @GRID@, ms = @MS@;
const text = atob(document.getElementById("data").textContent);
const bytes = Uint8Array.from(text, c => c.charCodeAt(0));
const whole = new Uint16Array(bytes.buffer);
const canvas = document.getElementById("all"), pen = canvas.getContext("2d");
const slider = document.getElementById("time"), now = document.getElementById("now");
const button = document.getElementById("play");
slider.max = pictures - 1;
let playing = true, shown = 0, last = 0;
function at(picture, point, axis, leg) {
  const k = ((picture * 5 + point) * 2 + axis) * legs + leg;
  return @NEAR@ + whole[k] / 65535 * (@FAR@ - @NEAR@);
}
const size = side * grid;
let yaw = Math.PI / 4, pitch = -0.2, zoom = 1;
function camera() {
  const w = canvas.width, h = canvas.height, f = zoom * 0.9 * Math.min(w, 1.6 * h);
  const [c, s, u, d] = [Math.cos(yaw), Math.sin(yaw), Math.cos(pitch), Math.sin(pitch)];
  return (x, y, z) => {
    const [X, Y, Z] = [x + 0.6, y + 0.6, z - 1.1];
    const ahead = c * X + s * Y, depth = Math.max(0.05, u * ahead + d * Z);
    return [w / 2 + f * (s * X - c * Y) / depth, h / 2 - f * (u * Z - d * ahead) / depth];
  };
}
function draw(picture) {
  const place = camera();
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.fillStyle = "#e7e4dc";
  pen.beginPath();
  for (const [x, y] of [[0, 0], [size, 0], [size, size], [0, size]]) pen.lineTo(...place(x, y, 0));
  pen.fill();
  for (let row = side - 1; row >= 0; row--) {
    for (let i = Math.ceil(side / 4) - 1; i >= 0; i--) strokeFew(picture, row, 4 * i, place);
  }
  slider.value = picture;
  now.textContent = (picture * ms / 1000).toFixed(2) + " s";
}
function strokeFew(picture, row, column, place) {
  const first = row * side, j = (row + 0.5) * grid;
  const begin = first + column, end = Math.min(legs, first + side, begin + 4);
  pen.lineWidth = Math.max(0.7, 14 * zoom / (1 + Math.hypot((column + 2) * grid, j)));
  for (const [color, path] of [["#b8541f", [0, 1, 2, 3]], ["#2c5d87", [0, 4, 3]]]) {
    pen.strokeStyle = color;
    pen.beginPath();
    for (let leg = begin; leg < end; leg++) {
      const i = (leg - first + 0.5) * grid;
      path.forEach((k, n) => {
        const p = place(i + at(picture, k, 0, leg), j, at(picture, k, 1, leg));
        if (n) pen.lineTo(...p); else pen.moveTo(...p);
      });
    }
    pen.stroke();
  }
}
canvas.onwheel = e => { e.preventDefault(); zoom *= Math.exp(-e.deltaY / 800); draw(shown); };
canvas.onpointermove = e => {
  if (!e.buttons) return;
  yaw += e.movementX / 600; pitch += e.movementY / 600; draw(shown);
};
function fit() {
  canvas.width = innerWidth;
  canvas.height = innerHeight - canvas.getBoundingClientRect().top - scrollY;
  draw(shown);
}
function tick(time) {
  if (playing && time - last >= ms) { last = time; shown = (shown + 1) % pictures; draw(shown); }
  requestAnimationFrame(tick);
}
slider.oninput = () => {
  playing = false; button.textContent = "play"; shown = +slider.value; draw(shown);
};
button.onclick = () => { playing = !playing; button.textContent = playing ? "pause" : "play"; };
addEventListener("resize", fit);
fit();
requestAnimationFrame(tick);
"""


def main(path: str, count: int = 4096, device: str = "") -> None:
    """Marches the legs and writes the page."""
    if not device:
        try:
            worlds = legs(count, "gpu")
        except LiaisonError as error:
            print(f"{error} The processor takes its place.")
            worlds = legs(count, "processor")
    else:
        worlds = legs(count, device)
    q, taken = marched(worlds)
    steps = count * PICTURES * EVERY
    where = "a GPU" if worlds.place.is_gpu else "the processor"
    note = (
        f"{steps:.3g} steps of {1e3 * STEP:g} ms on {where} in {taken:.2f} s "
        f"({steps / taken:.2g} a second, copies of positions and targets counted); {worlds.lost} "
        f"worlds lost, largest residual of cones {worlds.residuals.max():.1e}, deepest penetration "
        f"{worlds.penetrations.max():.1e} m."
    )
    title = f"{count} closed-loop legs on the ground"
    Path(path).write_text(page(points(worlds, q), title, note), encoding="utf-8")
    print(f"{path}: {note}")


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:3]), *sys.argv[3:4])
