"""Look into the distributions: everything that is needed is there, and nothing else.

python tools/check_dist.py FOLDER
"""

from __future__ import annotations

import sys
import tarfile
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

SDIST_NEEDS = ("pyproject.toml", "CMakeLists.txt", "LICENSE", "README.md", "Makefile", "tests/conftest.py",
               "src/linnaeus/py.typed", "src/linnaeus/kernels/native/module.cpp")  # fmt: skip
WHEEL_NEEDS = ("linnaeus/__init__.py", "linnaeus/py.typed", "linnaeus/kernels/_native.", "linnaeus/datasets/")
# Folders by name, kinds of file by their ending.
JUNK = {
    "__pycache__",
    ".venv",
    "build",
    "site",
    "shared",
    ".git",
    ".github",
    ".ci",
    ".mypy_cache",
    ".ruff_cache",
    ".pyc",
}
SDIST_JUNK = JUNK | {".so", ".pyd", ".o"}
WHEEL_JUNK = JUNK | {".cpp", ".hpp", "native", "tests", "tools"}


def check(names: list[str], needs: tuple[str, ...], junk: set[str]) -> Iterator[str]:
    """What is missing from these names, and what should not be among them."""
    for need in needs:
        if not any(name.startswith(need) for name in names):
            yield f"{need} is missing"
    for name in names:
        if junk & {*PurePosixPath(name).parts, PurePosixPath(name).suffix}:
            yield f"{name} does not belong there"


def main(arguments: list[str]) -> int:
    """Print what is wrong with the newest distributions in the folder; 1 when something is."""
    folder = Path(arguments[0])
    wrong = list[str]()
    for path in folder.glob("*.tar.gz"):
        with tarfile.open(path) as archive:
            names = [m.name.split("/", 1)[1] for m in archive.getmembers() if m.isfile()]
        wrong += [f"{path.name}: {what}" for what in check(names, SDIST_NEEDS, SDIST_JUNK)]
    for path in folder.glob("*.whl"):
        with zipfile.ZipFile(path) as wheel:
            names = wheel.namelist()
        wrong += [f"{path.name}: {what}" for what in check(names, WHEEL_NEEDS, WHEEL_JUNK)]
    print("\n".join(wrong) or f"The distributions in {folder} hold what they need and no more.")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
