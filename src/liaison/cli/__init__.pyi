"""The public names, for type checkers and editors; `__init__.py` loads them lazily."""

from liaison.cli.entry import app as app
from liaison.cli.entry import main as main
