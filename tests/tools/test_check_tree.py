import subprocess

import pytest

tree = pytest.importorskip("tools.check_tree", reason="the tests run outside the source tree")


@pytest.fixture
def checkout(tmp_path):
    done = subprocess.run(["git", "init", "-q", str(tmp_path / "tree")], check=False, capture_output=True)
    if done.returncode:
        pytest.skip("there is no git here")
    return tmp_path / "tree"


def test_a_file_that_a_run_left_is_named(checkout, tmp_path, capsys):
    (checkout / "mine.txt").write_text("was here before")
    assert tree.main(["remember", str(tmp_path / "before")], checkout) == 0
    assert tree.main(["compare", str(tmp_path / "before")], checkout) == 0
    (checkout / "pos.lin").write_text("left behind")
    assert tree.main(["compare", str(tmp_path / "before")], checkout) == 1
    assert "pos.lin" in capsys.readouterr().out


def test_outside_a_checkout_there_is_nothing_to_compare(tmp_path, monkeypatch):
    monkeypatch.setenv("GIT_CEILING_DIRECTORIES", str(tmp_path.parent))
    assert tree.main(["compare", str(tmp_path / "before")], tmp_path) == 0


def test_make_test_looks_for_files_that_were_left(source_tree):
    recipe = (source_tree / "Makefile").read_text(encoding="utf-8").partition("\ntest:")[2].partition("\n\n")[0]
    assert recipe.index("check_tree.py remember") < recipe.index("pytest-most") < recipe.index("check_tree.py compare")


def test_no_model_file_is_in_the_tree(source_tree):
    assert list(source_tree.glob("*.lin")) == []
