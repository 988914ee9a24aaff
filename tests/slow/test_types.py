"""The types of the public names, as mypy tells them to users."""

import subprocess
import sys

import pytest


@pytest.mark.slow
def test_no_face_answers_with_any(source_tree):
    command = [sys.executable, "-m", "mypy", "--strict", "--explicit-package-bases", "tests/typed"]
    done = subprocess.run(command, cwd=source_tree, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
