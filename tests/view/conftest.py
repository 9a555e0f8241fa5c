"""A double pendulum whose motion is written down, and one browser for all pages."""

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from liaison.model import Mechanism, Revolute, body, gravity, ground, join
from liaison.simulation.record.trajectory import EventRecord, Series, Trajectory
from liaison.units import Label

# pictures without a graphics card; pages put together without the graphics library, which would
# take seven times as long; and no talk with the outside
FLAGS = [
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking",
    "--no-first-run", "--disable-sync", "--disable-component-update", "--use-gl=angle",
    "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--hide-scrollbars",
]  # fmt: skip
FORCES = ("Mx", "My", "Mz", "Fx", "Fy", "Fz")


@dataclass
class Sample:
    run: Trajectory
    mechanism: Mechanism


def turned_about_y(angle: np.ndarray) -> np.ndarray:
    """Rotations that take −z to (sin a, 0, −cos a)."""
    c, s, o, one = np.cos(angle), np.sin(angle), 0 * angle, 1 + 0 * angle
    rows = [[c, o, -s], [o, one, o], [s, o, c]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


@pytest.fixture(scope="session")
def double_pendulum() -> Sample:
    """Upper bar of 1 m that swings, lower bar of 1 m that swings faster, in the plane y = 0."""
    upper = body("upper", 1, center=(0, 0, -0.5), inertia=(0.08, 0.08, 0.01))
    lower = body("lower", 1, center=(0, 0, -1), inertia=(0.01, 0.01, 0.01))
    A = join(ground, upper, Revolute, name="A", axis="y")
    B = join(upper.at((0, 0, -1)), lower, Revolute, name="B", axis="y")
    mechanism = Mechanism("double pendulum", (upper, lower), (A, B), forces=(gravity(),))
    t = np.linspace(0, 2, 81)
    a, b = 0.9 * np.cos(2.5 * t), 1.6 * np.sin(3 * t)
    da, db = -2.25 * np.sin(2.5 * t), 4.8 * np.cos(3 * t)
    poses = np.zeros((len(t), 2, 3, 4))
    poses[:, 0, :, :3] = turned_about_y(a)
    poses[:, 1, :, :3] = turned_about_y(b)
    poses[:, 1, :, 3] = poses[:, 0, :, :3] @ [0, 0, -1]
    reactions = np.zeros((len(t), 2, 6))
    reactions[:, 1, 3] = 10.0  # along x of the marker on the lower bar
    labels = {
        "q": (Label("A", "rad"), Label("B", "rad")),
        "v": (Label("A'", "rad/s"), Label("B'", "rad/s")),
    }
    run = Trajectory(
        name="double pendulum",
        t=t,
        q=np.stack([a, b - a], axis=1),
        v=np.stack([da, db - da], axis=1),
        labels=labels,
        series={
            "poses": Series.of_poses(poses, ("upper", "lower")),
            "energy": np.stack([da**2, -np.cos(a)], axis=1),
            "reactions": Series(
                reactions,
                ("N*m",) * 3 + ("N",) * 3,
                {"joint": ("A", "B"), "component": FORCES},
            ),
        },
        events=(EventRecord("low", 0.63, np.zeros(2), np.zeros(2)),),
    )
    return Sample(run, mechanism)


@pytest.fixture(scope="session")
def browser(chromium: str) -> Iterator[Any]:
    """A running browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        if os.environ.get("CI") == "true":
            pytest.fail("playwright is missing")
        pytest.skip("playwright is missing")
    with sync_playwright() as playwright:
        running = playwright.chromium.launch(executable_path=chromium, args=FLAGS)
        yield running
        running.close()


@pytest.fixture(scope="session")
def page_file(double_pendulum: Sample, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page of the double pendulum, with the tip's way drawn."""
    from liaison.view import page

    path = tmp_path_factory.mktemp("page") / "double pendulum.html"
    tip = ("lower", (0, 0, -1))
    page(double_pendulum.run, double_pendulum.mechanism, path, trace=[tip], labels=False)
    return path
