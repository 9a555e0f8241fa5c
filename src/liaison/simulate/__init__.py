"""The room `simulate`: a kernel and a state become a trajectory, in a compiled time loop."""

from liaison.lazy import offer

__all__ = offer(
    __name__,
    {
        "batch_result": "Runs",
        "batch_run": "simulate_batch",
        "machine": "map_entry",
        "options": "RunOptions",
        "projection": "Projection",
        "run": "Run simulate",
        "settings": "Settings",
        "stepper": "Stepper stepper",
        "trajectory": "EventRecord Series Trajectory load",
    },
)
