from __future__ import annotations

from pathlib import Path

import pytest

limits = pytest.importorskip("tools.check_limits", reason="the tests run outside the source tree")


def _findings(root: Path, name: str, text: str) -> list[str]:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return [f"{f.line}: {f.text}" for f in limits.check_tree(root) if f.path == path]


def _function(lines: int) -> str:
    return "def long():\n" + "    x = 1\n" * (lines - 1)


def _kernel(lines: int) -> str:
    return "namespace a {\nvoid loop(int n) {\n" + "  n = n + 1;\n" * (lines - 2) + "}\n}\n"


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * 4000,
        "from typing import Protocol\nclass A(Protocol):\n    def f(self): ...\n",
        "from typing import overload\n@overload\ndef f(a): ...\n",
        "model.eval()\nre.compile('a')\nnp.load('a', allow_pickle=False)\n",
        "x = 'https://example.org/home/page'\n",
    ],
)
def test_what_fits_is_not_reported(tmp_path: Path, text: str) -> None:
    assert _findings(tmp_path, "src/linnaeus/a.py", text) == []


@pytest.mark.parametrize(
    ("text", "finding"),
    [
        ("def f():\n    ...\n", "1: f is a stub"),
        ("def f():\n    raise NotImplementedError('later')\n", "2: NotImplementedError"),
        ("import pickle\n", "1: pickle can run code"),
        ("from joblib.memory import Memory\n", "1: joblib can run code"),
        ("eval('1')\n", "1: eval runs"),
        ("yaml.load('1')\n", "1: yaml.load runs"),
        ("np.load('a', allow_pickle=True)\n", "1: allow_pickle can run code"),
        ("# TO" + "DO: later\n", "1: 'TO" + "DO' is a note"),
        ("x = '/ro" + "ot/data'\n", "1: '/ro" + "ot' is a path of one machine"),
    ],
)
def test_what_does_not_fit_is_reported(tmp_path: Path, text: str, finding: str) -> None:
    (found,) = _findings(tmp_path, "src/linnaeus/a.py", text)
    assert found.startswith(finding)


def _tail(root: Path, name: str, text: str) -> list[tuple[str, int, int]]:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return [(size.name, size.amount, size.line) for size in limits.tail(root) if size.path == path]


@pytest.mark.parametrize(
    "text",
    [
        "x = 1\n" * 400,
        _function(40),
        "def f():\n" + '    """Words."""\n' + "\n    # why\n" * 30 + "    x = 1\n" * 39,
        "class A:\n    def f(self, a, b, c, d, e, g): return 1\n",
    ],
)
def test_ordinary_sizes_are_not_shown(tmp_path: Path, text: str) -> None:
    assert _tail(tmp_path, "src/linnaeus/a.py", text) == []


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x = 1\n" * 401, ("a.py", 401, 1)),
        (_function(41), ("long", 41, 1)),
        ("def f(a, b, *c, d, e, f, **g): return 1\n", ("f", 7, 1)),
        ("class A:\n    @staticmethod\n    def f(a, b, c, d, e, f, g): return 1\n", ("f", 7, 3)),
    ],
)
def test_the_tail_of_the_sizes_is_shown(tmp_path: Path, text: str, shown: tuple[str, int, int]) -> None:
    assert _tail(tmp_path, "src/linnaeus/a.py", text) == [shown]


def test_the_longest_come_first_and_do_not_fail(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    _tail(tmp_path, "src/a.py", "x = 1\n" * 500)
    _tail(tmp_path, "src/b.py", "x = 1\n" * 600)
    assert limits.main([str(tmp_path)]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said == ["src/b.py:1: b.py has 600 lines in a file.", "src/a.py:1: a.py has 500 lines in a file."]


def test_a_kernel_is_shown_from_81_lines(tmp_path: Path) -> None:
    assert _tail(tmp_path, "src/linnaeus/a.cpp", _kernel(80)) == []
    assert _tail(tmp_path, "src/linnaeus/a.cpp", _kernel(81)) == [("loop", 81, 2)]


def test_braces_in_strings_comments_and_structs_do_not_confuse(tmp_path: Path) -> None:
    many = "".join(f"  int f{i}() {{ return '{{' + *\"}}{{\"; }}  // }} {{\n" for i in range(100))
    text = f"#define OPEN {{\ntemplate <class T>\nstruct alignas(64) A {{\n{many}}};\n"
    assert _tail(tmp_path, "src/linnaeus/a.hpp", text) == []


def test_empty_rooms_are_reported(tmp_path: Path) -> None:
    (tmp_path / "src/linnaeus/nothing").mkdir(parents=True)
    (tmp_path / "src/linnaeus/words").mkdir()
    (tmp_path / "src/linnaeus/words/__init__.py").write_text('"""Only words."""\n')
    (tmp_path / "src/linnaeus/full").mkdir()
    (tmp_path / "src/linnaeus/full/__init__.py").write_text('"""A table."""\n\nTABLE = {}\n')
    assert [f.path.name for f in limits.check_tree(tmp_path)] == ["nothing", "words"]


def test_a_finding_is_one_line_and_the_exit_code_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "src").mkdir()
    assert limits.main([str(tmp_path)]) == 0
    (tmp_path / "src/a.py").write_text("import pickle\n")
    assert limits.main([str(tmp_path)]) == 1
    assert capsys.readouterr().out == "src/a.py:1: pickle can run code that it reads from a file.\n"
