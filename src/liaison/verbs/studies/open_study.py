"""Open the store of a study: its points, measures and runs.

Public names: open_study.
"""

from __future__ import annotations

from pathlib import Path

from liaison.arguments import checked
from liaison.numeric.progress import lasting
from liaison.studies.store import Store
from liaison.studies.study import Study

from ._studying import live_page, run_again


@lasting("studies")
@checked
def open_study(folder: str | Path, name: str = "") -> Study:
    """The study of a folder that `study` wrote; nothing is run.

    Args:
        folder: of the store.
        name: of one of its studies; the last one that was run, if not given.

    Raises:
        LiaisonError: there is no store, or one of another format, or a damaged one.

    Example:
        >>> import liaison
        >>> vary, measure = {"l": ["1 m", "2 m"]}, {"swing": "max(A)"}
        >>> swings = liaison.study(
        ...     "examples/pendulum.lsd", vary=vary, measure=measure, until=1, folder="swings"
        ... )
        >>> len(liaison.open_study("swings"))
        2
    """
    return Study(Store(folder, is_new=False), name, maker=run_again, pages=live_page)
