"""Step many copies of a mechanism at once, on a GPU.

Public names: worlds.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from liaison.arguments import checked
from liaison.errors import ModelError, interruptible
from liaison.model.pairing import is_scene
from liaison.numeric import State
from liaison.numeric.progress import lasting
from liaison.program.kernel import Kernel
from liaison.simulation.scene import Scene
from liaison.simulation.worlds.worlds import Worlds, worlds_of
from liaison.verbs.given import Given, Value, in_seconds, mechanism_of
from liaison.verbs.motion.collide import collide
from liaison.verbs.ready import ready_for, start_for


@lasting("simulation")
@checked
def worlds(
    given: Given | Kernel | Scene,
    count: int,
    *,
    step: Value,
    state: State | None = None,
    start: Mapping[str, Value] | None = None,
    guess: Mapping[str, Value] | None = None,
    parameters: Mapping[str, Any] | None = None,
    inputs: Mapping[str, Any] | None = None,
    device: str = "gpu",
    precision: str = "double",
    theta: float | None = None,
) -> Worlds:
    """Many copies of a mechanism that step together, through contacts: one world a thread.

    Args:
        given: a mechanism, the path of its text, a kernel, or a scene (`collide`) of balls and
            planes; of a mechanism whose bodies collide in many pairs, its scene.
        count: of worlds.
        step: of all of them [s]; they are Moreau and Jean's.
        state: where they start; assembled from the mechanism's own start if not given.
        start: positions and rates to assemble from, by label, instead of the mechanism's own.
        guess: positions and rates near which to assemble, which may move.
        parameters: values by name, in SI; of a kernel also arrays with one for each world.
        inputs: values by name, or formulas of time and state; others are set between steps.
        device: "gpu", "gpu:1" for the second one, or "processor", which runs the same code.
        precision: "double" or "single".
        theta: where in a step forces are taken, ½ to 1.

    Example:
        >>> import liaison
        >>> leg = "examples/contact/hopping_leg.lsd"
        >>> legs = liaison.worlds(leg, 16, step=1e-3, device="processor")
        >>> legs.step(50)
        >>> runs = legs.simulate(20, every=10)
        >>> len(runs), runs.q.shape[1]
        (16, 3)
    """
    h = in_seconds(step, "worlds: step")
    scene = _scene_of(given, start, parameters)
    if scene is not None:
        if inputs or guess or theta is not None:
            raise ModelError("worlds of a scene take no inputs, no guess and no theta.")
        return scene.worlds(count, step=h, state=state, device=device, precision=precision)
    assert not isinstance(given, Scene)
    if isinstance(given, Kernel):
        state = start_for("worlds", given, state, start=start, guess=guess, parameters=None)
        kernel = given
    else:
        with interruptible("the preparation of worlds"):
            kernel, state = ready_for(given, state, start, parameters, guess=guess)
        parameters = None
    return worlds_of(
        kernel, state, count, step=h, device=device, precision=precision,
        parameters=parameters, inputs=inputs, theta=theta,
    )  # fmt: skip


def _scene_of(
    given: Any, start: Mapping[str, Value] | None, parameters: Mapping[str, Any] | None
) -> Scene | None:
    """The scene that is given, or that a mechanism is; None of any other."""
    if isinstance(given, Scene):
        if start or parameters:
            raise ModelError(
                "start and parameters were given to worlds of a scene, which has its own.",
                hint="Give them to `collide`, or positions and velocities to `worlds.reset`.",
            )
        return given
    if isinstance(given, Kernel):
        return None
    mechanism = mechanism_of(given)
    if not is_scene(mechanism):
        return None
    return collide(mechanism, start=start, parameters=parameters)
