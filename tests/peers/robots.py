"""Robots that others published, read by us and by the peers, with states told by joint name."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.metadata import files
from pathlib import Path
from typing import Any

import numpy as np

from liaison.equations import newton_euler
from liaison.expr import collector_paused
from liaison.formats import read_urdf
from liaison.model import Gravity
from liaison.program import Kernel, to_llvm
from liaison.program.lower import lower
from liaison.tree import span

GRAVITY = (0, 0, -9.81)
ROBOTS = {
    "panda": "panda_description/urdf/panda.urdf",
    "ur5": "ur_description/urdf/ur5_robot.urdf",
    "talos": "talos_data/robots/talos_full_v2.urdf",
}
STATES = 100


def path_of(robot: str) -> Path:
    """Where example-robot-data keeps a robot."""
    found = [f for f in files("example-robot-data") or () if str(f).endswith(ROBOTS[robot])]
    return Path(str(found[0].locate()))


@cache
def text_of(robot: str) -> str:
    """The URDF text without shapes, which say nothing of the motion and name files."""
    text = path_of(robot).read_text()
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    for tag in ("visual", "collision", "gazebo", "transmission"):
        text = re.sub(rf"<{tag}\b[^>]*/>", "", text)
        text = re.sub(rf"<{tag}\b.*?</{tag}>", "", text, flags=re.DOTALL)
    return text


@dataclass(frozen=True)
class Ours:
    """A robot as we see it: a bare tree, without friction and without what couples its fingers."""

    robot: str
    floating: bool = False

    @cached_property
    def kernel(self) -> Kernel:
        read = read_urdf(text_of(self.robot), file=self.robot, floating=self.floating, strict=False)
        bare = replace(read, constraints=(), forces=(Gravity(GRAVITY),))
        with collector_paused():
            return to_llvm(lower(newton_euler(span(bare))))

    @cached_property
    def joints(self) -> list[str]:
        """Names of the joints that move, in the order of v, without the root."""
        labels = self.kernel.program.labels["v"]
        return [label.name.removesuffix("'") for label in labels if label.name.endswith("'")]

    def states(self) -> list[dict[str, np.ndarray]]:
        """q, v and v̇ at random, the same each time."""
        rng = np.random.default_rng(0)
        nq, nv = (self.kernel.program.sizes[k] for k in ("nq", "nv"))
        found = []
        for _ in range(STATES):
            q = rng.uniform(-1.5, 1.5, nq)
            if self.floating:
                at = [label.name for label in self.kernel.program.labels["q"]].index("root.qw")
                q[at : at + 4] /= np.linalg.norm(q[at : at + 4])
            found.append({"q": q, "v": rng.uniform(-1, 1, nv), "vdot": rng.uniform(-1, 1, nv)})
        return found

    def numbers(self, state: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        """M, h, τ of v̇, and v̇ where τ = 0."""
        at: dict[str, Any] = {"q": state["q"], "v": state["v"]}
        n = len(state["v"])
        return {
            "M": self.kernel("mass_matrix", **at).reshape(n, n),
            "h": self.kernel("bias", **at),
            "inverse": self.kernel("inverse", **at, x=state["vdot"]),
            "forward": self.kernel.call("forward", **at)["vdot"],
        }
