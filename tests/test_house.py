"""The house itself: what an import loads, what a package must carry, and names that stand in several places."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from importlib.metadata import version
from pathlib import Path
from types import ModuleType

import pytest

import linnaeus
from linnaeus import kernels

HEAVY = ("sklearn", "pandas", "polars", "torch", "scipy", "pyarrow", "numpy", "rich", "click", "msgspec")
HOME = Path(linnaeus.__file__).parent


def _loaded_by(code: str) -> set[str]:
    program = f"import sys; {code}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()}


@pytest.mark.parametrize("code", ["import linnaeus", "import linnaeus; dir(linnaeus); linnaeus.__version__"])
def test_importing_linnaeus_loads_nothing_heavy(code: str) -> None:
    assert _loaded_by(code) & set(HEAVY) == set()


PREDICT = (
    "import io; from linnaeus.cli.main import main; sys.stdin = io.TextIOWrapper(io.BytesIO(b'green apple')); "
    "sys.stdout = io.StringIO(); code = main(['predict', {model!r}]); said = sys.stdout.getvalue(); "
    "sys.stdout = sys.__stdout__; assert code == 0 and 'fruit' in said, said"
)
NEEDLESS = (
    *("sklearn", "pandas", "polars", "scipy", "torch", "safetensors", "msgspec", "numpy.ma", "numpy.random"),
    *("linnaeus.erm", "linnaeus.optimizers", "linnaeus.losses", "linnaeus.regularizers", "linnaeus.evaluation"),
    *("linnaeus.explain", "linnaeus.audit", "linnaeus.training.train", "linnaeus.data.formats.delimited"),
)


@pytest.mark.native
def test_one_prediction_on_the_command_line_loads_only_what_it_needs() -> None:
    model = str(Path(__file__).parent / "golden" / "format-1-classifier.lin")
    program = f"import sys; {PREDICT.format(model=model)}; print('\\n'.join(sys.modules))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    loaded = set(done.stdout.split())
    assert "linnaeus.model.model" in loaded
    assert loaded & set(NEEDLESS) == set()
    assert "linnaeus.kernels.reference" not in loaded


TRAIN = (
    "import io; from linnaeus.cli.main import main; sys.stdout = io.StringIO(); "
    "code = main(['train', {data!r}, *{options!r}, '--json', '-q', '-o', {model!r}]); "
    "sys.stdout = sys.__stdout__; assert code == 0"
)
SPARED = (
    *("sklearn", "pandas", "polars", "scipy", "torch", "rich", "msgspec", "numpy.ma", "numpy.random"),
    *("pyarrow.compute", "pyarrow.dataset", "html", "shutil", "tempfile", "glob", "statistics", "tomllib", "csv"),
    *("linnaeus.explain", "linnaeus.audit", "linnaeus.datasets", "linnaeus.erm.diagnose", "linnaeus.kernels.reference"),
    *("linnaeus.evaluation.comparison", "linnaeus.evaluation.curve", "linnaeus.evaluation.slicing"),
    *(
        "linnaeus.features.selection",
        "linnaeus.learners.neighbors.learner",
        "linnaeus.render.chart",
    ),
    *(
        "linnaeus.decision.isotonic",
        "linnaeus.optimizers.dual",
        "linnaeus.optimizers.lbfgs",
        "linnaeus.learners.bayes.counts",
    ),
)


@pytest.mark.native
@pytest.mark.parametrize(
    ("options", "spared"),
    [(["--test", "data.csv", "--recipe", "words"], SPARED), ([], ("sklearn", "pandas", "polars", "linnaeus.audit"))],
    ids=["quick", "cross-fitted"],
)
def test_a_training_on_the_command_line_loads_only_what_it_needs(tmp_path: Path, options, spared) -> None:
    data = tmp_path / "data.csv"
    data.write_text("text,label\n" + "green apple,fruit\nred car,thing\n" * 4, encoding="utf-8")
    code = TRAIN.format(data="data.csv", options=options, model="m.lin")
    program = f"import sys; {code}; print('\\n'.join(sys.modules))"
    command = [sys.executable, "-W", "error", "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    loaded = set(done.stdout.split())
    assert "linnaeus.training.train" in loaded
    assert loaded & set(spared) == set()


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
