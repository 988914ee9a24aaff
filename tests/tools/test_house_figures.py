from __future__ import annotations

import json
from pathlib import Path

import pytest

house = pytest.importorskip("tools.house", reason="the tests run outside the source tree")

FILES = {
    "__init__.py": '"""Doc."""\n',
    "outputs/__init__.py": "from pkg.outputs.real import Real as Real\n\nOUTPUTS = {'real': Real}\n",
    "outputs/real.py": 'class Real:\n    """Doc."""\n\n    width = 1  # one\n    """A number."""\n',
    "losses/__init__.py": (
        "from typing import TYPE_CHECKING\n"
        "if TYPE_CHECKING:\n    from pkg.losses.point import Squared as Squared\n"
        "_HOMES = {'Squared': 'point'}\n__all__ = ['Squared']\n"
    ),
    "losses/point.py": "from pkg.losses.scalar import half\n\nclass Squared:\n    value = half\n",
    "losses/scalar.py": "from typing import Any\n\ndef half(x: Any) -> Any:\n    return getattr(x, 'half')\n",
    "learn.py": (
        "from pkg.losses import Squared\nfrom pkg.outputs import Real\n\n"
        "def ask(x, name):\n    if isinstance(x, Real) or hasattr(x, name):\n        return getattr(x, name)\n"
        "    match x:\n        case Real():\n            return Squared\n"
    ),
}


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    for name, text in FILES.items():
        path = tmp_path / "pkg" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return tmp_path / "pkg"


def test_the_figures_of_a_small_tree(tree: Path) -> None:
    assert house.figures(house.read(tree)) == {
        "files": 7,
        "code lines": 24,
        "statements": 23,
        "modules with a single importer": 3,
        "  of these not public": 1,
        "lines with Any": 2,
        "probing (hasattr, getattr with a written name)": 2,
        "  of these for what our own pieces can do": 2,
        "getattr with a computed name": 1,
        "has_method (a user's own piece)": 0,
        "isinstance on spaces outside outputs": 2,
        "public names written more than once in a room": 2,
        "public names": 2,
        "  times in all": 5,
    }


def test_what_is_public_is_imported_through_its_folder(tree: Path) -> None:
    found = house.read(tree)
    assert house.importers(found)["pkg.losses.point"] == {"pkg.learn"}
    assert house.single_importers(found)[1] == ["losses/scalar.py:1: only pkg.losses.point imports it"]


def test_the_figures_are_printed_with_their_places(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert house.main([str(tree), str(tree), "--list"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0].split() == ["files", "7", "7"]
    assert "losses/scalar.py:4: getattr(x, 'half')" in said


def test_the_figures_as_json(tree: Path, capsys: pytest.CaptureFixture[str]) -> None:
    house.main([str(tree), "--json"])
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert rows[0]["files"] == 7
    assert [row["room"] for row in rows[1:]] == [".", "losses", "outputs"]
