"""Every public name is in the API reference, with a docstring, an example and types."""

import inspect
import re

import pytest

import linnaeus

reference = pytest.importorskip("tools.reference", reason="the tests run outside the source tree")

PUBLIC = [
    pytest.param(getattr(reference.import_module(room), name), id=f"{room}.{name}")
    for room, names in reference.public_names().items()
    for name in names
]
CODE = [one for one in PUBLIC if inspect.isclass(one.values[0]) or inspect.isroutine(one.values[0])]


def test_every_public_package_has_a_page_in_the_navigation(source_tree):
    packages = {f"linnaeus.{name}" for name in linnaeus.__all__ if inspect.ismodule(getattr(linnaeus, name))}
    assert all(any(f"{room}.".startswith(f"{package}.") for room in reference.ROOMS) for package in packages)
    nav = (source_tree / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:")[2]
    assert set(re.findall(r"reference/\S+\.md", nav)) == set(reference.pages())


def test_every_public_name_has_an_entry():
    entries = [line for page in reference.pages().values() for line in page.splitlines() if line.startswith("::: ")]
    assert len(entries) == len(set(entries)) == len(PUBLIC)
    names = [name for name in linnaeus.__all__ if not name.startswith("_")]
    assert {f"::: linnaeus.{name}" for name in names if not inspect.ismodule(getattr(linnaeus, name))} <= set(entries)


@pytest.mark.parametrize("piece", CODE)
def test_docstring_example_and_types(piece):
    text = piece.__doc__ or ""
    assert text.strip(), "no docstring"
    assert not text.startswith(f"{piece.__name__}("), "the docstring is the one that dataclasses write"
    assert ">>> " in text, "no example"
    if inspect.isroutine(piece):
        assert reference.untyped(piece) == []


def test_the_site_is_searched_for_what_is_loaded_from_elsewhere(tmp_path):
    hook = pytest.importorskip("tools.mkdocs_hook")
    (tmp_path / "fine.html").write_text('<a href="https://example.org">a link</a><img src="picture.svg">')
    assert hook.loaded_from_elsewhere(tmp_path) == []
    (tmp_path / "font.css").write_text("@import url(https://fonts.example.org/a.css);")
    (tmp_path / "script.html").write_text('<script async src="//cdn.example.org/a.js"></script>')
    (tmp_path / "style.html").write_text('<link rel="stylesheet" href="https://cdn.example.org/a.css">')
    assert [line.partition(":")[0] for line in hook.loaded_from_elsewhere(tmp_path)] == [
        "font.css",
        "script.html",
        "style.html",
    ]


def test_examples_of_docstrings_become_code_blocks():
    griffe = pytest.importorskip("griffe", reason="the site is not built here")
    extension = pytest.importorskip("tools.griffe_extension")
    assert extension.fenced("One.\n\n>>> 1 + 1\n2\n\nTwo.") == "One.\n\n```pycon\n>>> 1 + 1\n2\n```\n\nTwo."
    assert issubclass(extension.Docstrings, griffe.Extension)
