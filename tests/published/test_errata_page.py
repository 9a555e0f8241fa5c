"""docs/errata.md names tests that exist, one or more in every row."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_every_row_of_the_errata_names_a_test_that_exists():
    page = (ROOT / "docs" / "errata.md").read_text(encoding="utf-8")
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line.startswith("| ")][
        1:
    ]
    assert len(rows) > 70
    files = sorted((ROOT / "tests" / "published").glob("test_errata*.py"))
    there = {
        name for x in files for name in re.findall(r"^def (test_\w+)", x.read_text("utf-8"), re.M)
    }
    for row in rows:
        named = re.findall(r"`([^`]+)`", row[-1])
        assert named, row[0]
        for test in named:
            assert test in there or (ROOT / test).is_file(), (row[0], test)
