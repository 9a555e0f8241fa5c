"""What tests of the command line share."""

import pytest

from liaison.cli import main


@pytest.fixture
def run(capsys):
    """Runs the command line here: (exit status, stdout, stderr)."""

    def call(*words):
        with pytest.raises(SystemExit) as left:
            main([str(word) for word in words])
        captured = capsys.readouterr()
        return left.value.code, captured.out, captured.err

    return call
