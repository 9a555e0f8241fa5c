"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.fmi.archive import fmu as fmu
from liaison.fmi.gate import fmu_problems as fmu_problems
