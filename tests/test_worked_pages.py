"""The worked examples have a page each, in order, through public names only; `test_docs.py` runs them."""

import ast
import re
from pathlib import Path

import pytest

import linnaeus

FOLDER = Path(__file__).resolve().parents[1] / "docs" / "examples"
PAGES = sorted(FOLDER.glob("[0-9]*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
ERRATA = {7, 9, 12, 13, 21}

pytestmark = pytest.mark.skipif(not FOLDER.exists(), reason="the tests run outside the source tree")
page = pytest.mark.parametrize("path", PAGES, ids=[path.stem for path in PAGES])


def test_every_worked_example_has_a_page():
    assert [int(path.name[:2]) for path in PAGES] == list(range(1, 25))
    index = (FOLDER / "index.md").read_text(encoding="utf-8")
    assert re.findall(r"\]\((\d\d-[^)]+)\)", index) == [path.name for path in PAGES]


@page
def test_pages_show_numbers_and_say_what_they_teach(path):
    text = path.read_text(encoding="utf-8")
    number = int(path.name[:2])
    assert text.startswith(f"# {number}. ")
    assert "**What it teaches.**" in text
    assert ("**Errat" in text) == (number in ERRATA)
    assert re.search(r"^>>> .*\n(?:\.\.\..*\n)*[^>`\s]", text, re.MULTILINE)


@page
def test_pages_use_public_names_only(path):
    """A name is public where `linnaeus` lists it, or a folder that `linnaeus` lists."""
    for block in BLOCK.findall(path.read_text(encoding="utf-8")):
        code = "\n".join(line[4:] for line in block.splitlines() if line[:4] in (">>> ", "... "))
        for node in ast.walk(ast.parse(code or block)):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "linnaeus":
                room = linnaeus
                for part in node.module.split(".")[1:]:
                    assert part in room.__all__, node.module
                    room = getattr(room, part)
                assert {name.name for name in node.names} <= set(room.__all__)
