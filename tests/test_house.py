"""The house itself: what a start may cost, what a package must carry, and names that stand in several places."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import linnaeus
from linnaeus import kernels

HEAVY = ("sklearn", "pandas", "polars", "torch", "scipy", "pyarrow", "numpy", "rich", "click", "msgspec")
HOME = Path(linnaeus.__file__).parent


class Start(NamedTuple):
    """What a start may cost: modules of ours, time of the processor beside `BARE`, and modules it must do without."""

    arguments: list[str]
    ours: int
    ratio: float
    without: tuple[str, ...]


BARE = "import sys, numpy, pyarrow"
"""What no start that reads texts does without: their import is the unit of time."""

LIGHT = ("sklearn", "pandas", "polars", "scipy", "torch", "msgspec", "numpy.ma", "numpy.random")
QUICK = (*LIGHT, "rich", "pyarrow.compute", "pyarrow.dataset", "html", "shutil", "tempfile", "glob", "statistics")
MODEL = str(Path(__file__).parent / "golden" / "format-1-classifier.lin")
TRAIN = ["train", "data.csv", "--json", "-q", "--force", "-o", "m.lin"]
STARTS = {
    "predict": Start(["predict", MODEL], 115, 2.5, (*LIGHT, "safetensors")),
    "train, quick": Start([*TRAIN, "--test", "data.csv", "--recipe", "words"], 205, 3.5, (*QUICK, "tomllib", "csv")),
    "train": Start(TRAIN, 210, 7.0, ("sklearn", "pandas", "polars", "torch")),
}
RUN = """
import io, sys
from linnaeus.cli.main import main
sys.stdin, sys.stdout = io.TextIOWrapper(io.BytesIO(b"green apple")), io.StringIO()
code, said = main({arguments!r}), sys.stdout.getvalue()
assert code == 0 and "fruit" in said, said
sys.stdout = sys.__stdout__
"""
LOADED = "print('\\n'.join(sys.modules))"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = "green apple,fruit\nred car,thing\n" * 4
    (tmp_path / "data.csv").write_text("text,label\n" + rows, encoding="utf-8")
    return tmp_path


def _run(program: str, folder: Path | None = None) -> set[str]:
    """The words that a program prints."""
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=folder)
    return set(done.stdout.split())


@pytest.mark.parametrize("code", ["import linnaeus", "import linnaeus; dir(linnaeus); linnaeus.__version__"])
def test_importing_linnaeus_loads_nothing_heavy(code: str) -> None:
    loaded = _run(f"import sys; {code}; {LOADED}")
    assert {name.split(".")[0] for name in loaded} & set(HEAVY) == set()
    assert sum(name.startswith("linnaeus") for name in loaded) <= 5


@pytest.mark.native
@pytest.mark.parametrize("name", STARTS)
def test_a_verb_loads_no_more_modules_than_it_may(name: str, folder: Path) -> None:
    start = STARTS[name]
    loaded = _run(RUN.format(arguments=start.arguments) + LOADED, folder)
    assert loaded & set(start.without) == set()
    assert sum(module.startswith("linnaeus.") for module in loaded) <= start.ours


def _processor_seconds(program: str, folder: Path) -> float:
    return float(*_run(f"{program}\nimport time; print(time.process_time(), file=sys.__stdout__)", folder))


@pytest.mark.native
@pytest.mark.parametrize("name", STARTS)
def test_a_verb_takes_no_more_time_than_it_may(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONDONTWRITEBYTECODE", raising=False)  # an installed package is compiled
    program = RUN.format(arguments=STARTS[name].arguments)
    pairs = [(_processor_seconds(program, folder), _processor_seconds(BARE, folder)) for _ in range(3)]
    taken, unit = map(min, zip(*pairs, strict=True))
    assert taken / unit <= STARTS[name].ratio


def test_every_public_name_is_there() -> None:
    assert [name for name in linnaeus.__all__ if getattr(linnaeus, name, None) is None] == []


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = linnaeus.nothing


def _settings(root: Path) -> dict[str, object]:
    return tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_version_is_the_same_everywhere(source_tree: Path) -> None:
    assert _settings(source_tree)["project"]["version"] == linnaeus.__version__


def test_the_installed_version_is_the_imported_one() -> None:
    assert version("linnaeus") == linnaeus.__version__


def test_a_rebuild_without_isolation_has_the_tools_of_the_build(source_tree: Path) -> None:
    settings = _settings(source_tree)
    assert set(settings["build-system"]["requires"]) <= set(settings["dependency-groups"]["build"])


def test_types_travel_with_the_package() -> None:
    assert (HOME / "py.typed").is_file()


def _kernels(module: ModuleType) -> set[str]:
    return {name for name, found in vars(module).items() if not name.startswith("_") and callable(found)}


@pytest.mark.native
def test_the_twins_are_exactly_the_compiled_kernels() -> None:
    from linnaeus.kernels import _native

    assert _kernels(_native) == _kernels(kernels.reference)


def test_every_kernel_is_at_the_door_and_those_with_a_tolerance_are_kernels() -> None:
    assert [name for name in _kernels(kernels.reference) if not callable(getattr(kernels, name, None))] == []
    assert kernels.reference.TOLERANCES.keys() <= _kernels(kernels.reference)


def test_the_tolerances_of_kernels_are_those_of_the_docs(source_tree: Path) -> None:
    page = (source_tree / "docs" / "adding" / "kernel.md").read_text(encoding="utf-8")
    rows = [
        line.split(" | ") for line in page.partition("<!-- tolerances -->")[2].splitlines() if line.startswith("| `")
    ]
    said = {name.strip("`| "): (float(row[1]), float(row[2])) for row in rows for name in row[0].split(", ")}
    assert said == {name: known[:2] for name, known in kernels.reference.TOLERANCES.items()}
