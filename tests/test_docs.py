"""Every example in the documentation runs and writes what its page shows, and every link leads somewhere.

How pages are run is written in `tools/write_docs.py`, which also brings them up to date.
"""

import re
from pathlib import Path

import pytest

docs = pytest.importorskip("tools.write_docs", reason="the tests run outside the source tree")

ROOT, PAGES, FENCE = docs.ROOT, docs.PAGES, docs.FENCE
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)#\s]+)(?:#[^)\s]*)?\)")

page = pytest.mark.parametrize("path", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])


@page
def test_examples_write_what_the_page_shows(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    text = path.read_text(encoding="utf-8")
    wrong = docs.difference(text, docs.run_page(path, text))
    assert not wrong, f"{wrong}\nIf this is how it should be: make docs-output"


@page
def test_output_is_shown_without_gaps(path):
    blocks = [block for block in FENCE.finditer(path.read_text(encoding="utf-8")) if block["info"].strip() == "console"]
    shown = [step["shown"] for block in blocks for step in docs.STEP.finditer(block["code"])]
    assert [text for text in shown if re.search(r"\.\.\.\s*$", text, re.MULTILINE)] == []


@page
def test_links_lead_somewhere(path):
    prose = FENCE.sub("", path.read_text(encoding="utf-8"))
    assert [link for link in LINK.findall(prose) if not (path.parent / link).exists()] == []


def test_the_site_lists_every_page(source_tree):
    nav = (source_tree / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    listed = set(re.findall(r"(\S+\.md)\s*$", nav, re.MULTILINE))
    listed = {name for name in listed if not name.startswith("reference/")}  # made of docstrings
    assert listed == {p.relative_to(source_tree / "docs").as_posix() for p in source_tree.glob("docs/**/*.md")}


def test_pictures_and_figures_of_the_readme_are_made_by_their_tool():
    readme = pytest.importorskip("tools.draw_readme")
    for path, new in readme.made().items():
        wrong = docs.difference(path.read_text(encoding="utf-8"), new)
        assert not wrong, f"{path.name} is not what tools/draw_readme.py makes:\n{wrong}"


def run(text, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return docs.run_page(Path("page.md"), text)


def test_a_wrong_example_is_noticed(tmp_path, monkeypatch):
    run("```python\na = 1 + 1\n```\n```python\n>>> a\n2\n```\n", tmp_path, monkeypatch)
    with pytest.raises(docs.ExampleError, match="Expected"):
        run("```python\na = 1 + 1\n```\n```python\n>>> a\n3\n```\n", tmp_path, monkeypatch)
    with pytest.raises(docs.ExampleError, match="exit code 2"):
        run("```console\n$ linnaeus recipes nope\n```\n", tmp_path, monkeypatch)


def test_the_real_output_takes_the_place_of_what_is_shown(tmp_path, monkeypatch):
    page = "```python\nprint('five', 5)\n```\n\n```text\nfour 4\n```\n"
    assert run(page, tmp_path, monkeypatch) == page.replace("four 4", "five 5")
    page = "```console\n$ linnaeus nope 2>&1\nwrong\n$ echo two words | cat\nold\n```\n"
    found = run(page, tmp_path, monkeypatch)
    assert "linnaeus: error: " in found
    assert "$ echo two words | cat\ntwo words\n" in found


def test_figures_may_differ_and_words_may_not():
    shown = "accuracy  0.8500  0.79 – 0.91  ████\n480 rows in 0.4 s\n"
    assert not docs.difference(shown, "accuracy 0.91 0.8 – 0.95 ██████▌\n1,200 rows in 12 ms\n")
    assert not docs.difference("<text>1.1&#160;s</text>", "<text>680&#160;ms</text>")
    assert docs.difference(shown, shown.replace("rows", "texts"))
    assert docs.difference(shown, shown + "one row more\n")
    assert docs.difference(shown, shown.splitlines()[0])


def test_times_alone_do_not_change_a_page():
    assert docs.keep_times("480 rows in 0.4 s\n", "480 rows in 0.5 s\n") == "480 rows in 0.4 s\n"
    assert docs.keep_times("480 rows in 0.4 s\n", "481 rows in 0.4 s\n") == "481 rows in 0.4 s\n"
