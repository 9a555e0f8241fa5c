"""The room `simulation`: a kernel and a state become a trajectory, in a compiled time loop."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "batch.result": "Runs",
        "batch.run": "simulate_batch",
        "live.module": "live_module",
        "live.package": "live_package live_script",
        "machine": "map_entry",
        "plan.options": "RunOptions",
        "steps.projection": "Projection",
        "run": "Run simulate",
        "plan.settings": "Settings",
        "stepper": "Stepper stepper",
        "worlds.derivatives": "StepDerivatives",
        "worlds.worlds": "Worlds worlds_of",
        "record.trajectory": "EventRecord Series Trajectory load",
    },
)
