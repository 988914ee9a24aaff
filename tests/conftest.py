"""What every test may rely on: repeatable examples, the folder of real data, skips where no kernels were compiled."""

from __future__ import annotations

import os
import warnings
from pathlib import Path

import pytest
from hypothesis import settings

with warnings.catch_warnings():
    # Where the twins run, the library says so once; that is no failure of the tests.
    warnings.simplefilter("ignore")
    from linnaeus import kernels

ROOT = Path(__file__).resolve().parents[1]

# The same examples on every run, so that a red build is red again; no database is left in the tree.
settings.register_profile("quick", deadline=None, derandomize=True, database=None, max_examples=100)
settings.register_profile("slow", settings.get_profile("quick"), max_examples=3000)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "quick"))


def pytest_report_header() -> str:
    where = getattr(kernels, "_native", None)
    return f"kernels: {where.__file__ if where else 'reference twins'}"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    if kernels.NATIVE:
        return
    skip = pytest.mark.skip(reason="needs the compiled kernels; here their reference twins run")
    for item in items:
        if item.get_closest_marker("native"):
            item.add_marker(skip)


@pytest.fixture(scope="session")
def source_tree() -> Path:
    """The root of the source tree, for tests about the project itself; skips where only the tests were copied."""
    if not (ROOT / "src" / "linnaeus").is_dir() or not (ROOT / "pyproject.toml").is_file():
        pytest.skip("the tests run outside the source tree")
    return ROOT


@pytest.fixture(scope="session")
def real_data() -> Path:
    """The folder of real data sets: LINNAEUS_DATA, else ../shared/data beside the repository; skips where absent."""
    folder = Path(os.environ.get("LINNAEUS_DATA") or ROOT.parent / "shared" / "data")
    if not folder.is_dir():
        pytest.skip(f"no real data in {folder}; set LINNAEUS_DATA to their folder")
    return folder
