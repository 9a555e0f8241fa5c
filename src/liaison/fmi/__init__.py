"""The room `fmi`: a kernel and a state become an FMU, which other simulators run."""

from liaison.lazy import offer

__all__ = offer(__name__, {"archive": "fmu", "gate": "fmu_problems"})
