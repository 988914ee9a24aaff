"""The examples in the docstrings of every module run."""

import doctest
import importlib
import pkgutil

import pytest

import linnaeus

FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
COMPILED = {"linnaeus.kernels._native"}
MODULES = sorted({m.name for m in pkgutil.walk_packages(linnaeus.__path__, "linnaeus.")} - COMPILED | {"linnaeus"})


@pytest.mark.parametrize("name", MODULES)
def test_docstring_examples(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = []
    runner = doctest.DocTestRunner(optionflags=FLAGS)
    for test in doctest.DocTestFinder().find(importlib.import_module(name)):
        runner.run(test, out=report.append)
    assert not report, "".join(report)
