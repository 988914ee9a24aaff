"""Names and what they may mean."""

from __future__ import annotations

import pytest

from linnaeus.data.groups import AliasTable, Groups
from linnaeus.errors import DataError


def test_a_table_learned_from_answers_gives_candidates_for_mentions():
    known = Groups.from_lists(["Rome", "rome", "Oslo"], [["Rome", "Rome, Texas"]] * 2 + [["Oslo"]], [0, 0, 0])
    table = AliasTable.learn(known)
    assert table.candidates("ROME") == [("Rome", 2.0), ("Rome, Texas", 0.0)]
    found = table.groups(["Rome", "Bern"], columns={"doc": ["a", "b"]})
    assert found.candidates.to_pylist() == ["Rome", "Rome, Texas"]
    assert found.offsets.tolist() == [0, 2, 2]
    assert found.details["count"].to_pylist() == [2.0, 0.0]
    assert table.groups(["Rome"], top=1).candidates.to_pylist() == ["Rome"]
    assert table.recall(known) == 1.0
    assert table.recall(Groups.from_lists(["Rome"], [["Roma"]], [0])) == 0.0
    assert len(table) == 2


def test_a_file_of_names(tmp_path):
    path = tmp_path / "names.tsv"
    path.write_text("Big Apple\tNew York\t3\nbig  apple\tApple\n\n")
    assert AliasTable.read(path).candidates("Big Apple") == [("New York", 3.0), ("Apple", 1.0)]


@pytest.mark.parametrize("line", ["alone", "a\tb\tmany", "a\tb\t-1", "a\tb\tnan", "a\tb\t1\tmore"])
def test_lines_that_are_none(tmp_path, line):
    path = tmp_path / "names.tsv"
    path.write_text(f"a\tb\n{line}\n")
    with pytest.raises(DataError, match="line 2"):
        AliasTable.read(path)
    with pytest.raises(DataError, match="there is no such file"):
        AliasTable.read(tmp_path / "missing")
