"""The page of evidence: its examples print what stands below them."""

import contextlib
import io
import re
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
COMPUTED = re.compile(r"^  Computed: .*$", re.M)
ROUNDED = re.compile(r"\d(?:\.\d+)?e-\d+")


def without_sizes(text: str) -> str:
    """Without residuals and radii, which depend on rounding."""
    return COMPUTED.sub(lambda line: ROUNDED.sub("…", line[0]), text)


def examples() -> list[tuple[str, str]]:
    text = (REPOSITORY / "docs/theory/evidence.md").read_text(encoding="utf-8")
    return re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", text, re.S)


def test_every_example_prints_what_stands_below_it(monkeypatch):
    """Rounding differs between processors: sizes of residuals and boxes are left out."""
    monkeypatch.chdir(REPOSITORY)
    names: dict[str, object] = {}
    assert len(examples()) >= 9
    for code, expected in examples():
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, names)
        assert without_sizes(printed.getvalue()) == without_sizes(expected)
