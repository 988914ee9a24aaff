"""Examples with candidates: from lists, files and tables; what is wrong with them is said in one sentence."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from linnaeus.data.group_reading import GroupRoles, read_groups
from linnaeus.data.groups import Groups, gold_of, gold_of_column
from linnaeus.errors import DataError, InputTypeError, UsageError

ROWS = [
    {"text": "2 + 2", "candidates": ["3", "4"], "answer": 1, "doc": "a", "links": [5, 7]},
    {"text": "none", "candidates": [], "answer": None, "doc": "a", "links": []},
    {"text": "capital", "candidates": ["Rome", "Paris", "Bern"], "answer": 0, "doc": "b", "links": [1, 2, 3]},
]


def same(a, b):
    assert a.offsets.tolist() == b.offsets.tolist()
    assert a.text.to_pylist() == b.text.to_pylist()
    assert a.candidates.to_pylist() == b.candidates.to_pylist()
    assert a.gold.tolist() == b.gold.tolist()


def test_dicts_jsonl_and_parquet_say_the_same(tmp_path):
    direct = read_groups(ROWS)
    (tmp_path / "rows.jsonl").write_text("\n".join(map(json.dumps, ROWS)) + "\n")
    pq.write_table(pa.Table.from_pylist(ROWS), tmp_path / "rows.parquet")
    for name in ("rows.jsonl", "rows.parquet"):
        found = read_groups(tmp_path / name)
        same(found, direct)
        assert found.columns["doc"].to_pylist() == ["a", "a", "b"]
        assert found.details["links"].to_pylist() == [5, 7, 1, 2, 3]
    assert direct.answers().tolist() == [1, -1, 0]


def test_a_row_for_each_candidate(tmp_path):
    lines = ["id,text,candidate,gold,links", "7,sky,blue,1,3", "9,sea,dry,0,4", "7,sky,red,0,5", "9,sea,wet,true,6"]
    (tmp_path / "long.csv").write_text("\n".join(lines) + "\n")
    found = read_groups(tmp_path / "long.csv", GroupRoles(group="id"))
    assert found.candidates.to_pylist() == ["blue", "red", "dry", "wet"]
    assert found.answers().tolist() == [0, 1]
    assert found.text.to_pylist() == ["sky", "sea"]
    assert found.details["links"].to_pylist() == ["3", "5", "4", "6"]
    assert found.columns["id"].to_pylist() == ["7", "9"]


def test_candidates_that_are_objects_have_details():
    found = read_groups([{"mention": "x", "choices": [{"title": "a", "links": 1}, {"title": "b", "links": 2}]}])
    assert found.candidates.to_pylist() == ["a", "b"]
    assert found.details["links"].to_pylist() == [1, 2]
    assert found.gold is None


@pytest.mark.parametrize("answer", [1, "b", ["b"], [1]])
def test_an_answer_is_a_place_a_candidate_or_a_list(answer):
    assert read_groups([{"text": "x", "candidates": ["a", "b"], "answer": answer}]).answers().tolist() == [1]


def test_answers_of_several_kinds_in_one_file():
    rows = [{"text": "x", "candidates": ["a", "b"], "answer": answer} for answer in (0, "b", ["a", "b"], None)]
    found = read_groups(rows)
    assert found.gold.tolist() == [True, False, False, True, True, True, False, False]


def test_two_right_candidates_are_both_right():
    found = Groups.from_lists(["x"], [["a", "b", "c"]], [[0, 2]])
    assert found.gold.tolist() == [True, False, True]
    assert found.answers().tolist() == [0]


def test_none_of_these_is_one_candidate_more():
    found = Groups.from_lists(["x", "y"], [["a"], []], [0, None]).with_none()
    assert found.candidates.to_pylist() == ["a", None, None]
    assert found.offsets.tolist() == [0, 2, 3]
    assert found.gold.tolist() == [True, False, True]


def test_examples_can_be_taken_in_any_order():
    found = read_groups(ROWS).take(np.array([2, 0]))
    assert found.candidates.to_pylist() == ["Rome", "Paris", "Bern", "3", "4"]
    assert found.answers().tolist() == [0, 1]
    assert found.details["links"].to_pylist() == [1, 2, 3, 5, 7]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"text": "x", "candidates": ["a"], "answer": 4}], "Row 1: the answer is 4"),
        ([{"text": "x", "candidates": ["a"], "answer": "z"}], "'z' is not one of its candidates"),
        ([{"text": "x", "candidates": [], "answer": 0}], "it has no candidates"),
        ([{"text": "x", "answer": 0}], "No column holds the candidates"),
        ([{"candidates": ["a"]}], "No column holds the text"),
        ([{"text": "x", "candidates": "a"}], "not lists of candidates"),
        ([{"text": "x", "candidates": [{"links": 1}]}], "need an entry 'text'"),
        ([{"text": "x", "candidates": []}, {"text": "y", "candidates": ["a", None]}], "Row 2: a candidate is null"),
        ([{"text": "x", "candidates": ["a"]}, {"text": None, "candidates": ["a"]}], "Row 2: a text is null"),
        ([{"text": "\ud800", "candidates": ["a"]}], "'text', row 1: .* holds half a surrogate pair"),
        ([], "there are no examples"),
    ],
)
def test_what_is_wrong_is_said(rows, words):
    with pytest.raises(DataError, match=words):
        read_groups(rows)


def test_numbers_among_candidates_are_words_too():
    found = read_groups([{"text": "x", "candidates": ["a", 1], "answer": "1"}])
    assert found.candidates.to_pylist() == ["a", "1"]
    assert found.answers().tolist() == [1]


def test_the_file_comes_first_and_answers_can_be_left_unread(tmp_path):
    path = tmp_path / "odd.jsonl"
    path.write_text('{"text": "x", "candidates": ["a"], "answer": "z"}\n')
    with pytest.raises(DataError, match=r"odd\.jsonl: Row 1: .*; add it to them\.$"):
        read_groups(path)
    assert read_groups(path, GroupRoles(answer="")).gold is None


def test_other_mistakes(tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"text": "x", "candidates": []}\n{nope\n')
    with pytest.raises(DataError, match=r"line 2: not JSON"):
        read_groups(tmp_path / "bad.jsonl")
    with pytest.raises(DataError, match="there is no such file"):
        read_groups(tmp_path / "missing.parquet")
    with pytest.raises(UsageError, match="no column 'nope'"):
        read_groups(ROWS, GroupRoles(text="nope"))
    with pytest.raises(InputTypeError, match="list of texts"):
        Groups.from_lists("x", [["a"]])
    with pytest.raises(InputTypeError, match="a string, not 3"):
        Groups.from_lists(["x"], [[3]])
    with pytest.raises(DataError, match="no answers"):
        Groups.from_lists(["x"], [["a"]]).truth()
    rows = [{"id": 1, "text": "x", "candidate": "a", "gold": "maybe"}]
    with pytest.raises(DataError, match="1 or 0"):
        read_groups(rows, GroupRoles(group="id"))


@pytest.mark.parametrize(
    "answers",
    [
        [0, 2, None, -1],
        ["b", "a", None, None],
        ["a", "a", "c", None],
        pa.array([1, 0, 0, None], pa.int8()),
    ],
)
def test_answers_of_a_column_are_those_of_each_row(answers):
    lists = [["a", "b", "a"], ["b", "a", "a"], ["c"], []]
    offsets, flat = np.array([0, 3, 6, 7, 7]), [one for some in lists for one in some]
    column = answers if isinstance(answers, pa.Array) else pa.array(answers)
    quick = gold_of_column(column, offsets, pa.array(flat))
    assert quick.tolist() == gold_of(column.to_pylist(), offsets, flat).tolist()
    table = {"text": pa.array(list("wxyz")), "candidates": pa.array(lists, pa.list_(pa.string())), "answer": column}
    assert read_groups(pa.table(table)).gold.tolist() == quick.tolist()


@pytest.mark.parametrize("wrong", [[3, 0], [-2, 0], ["x", "b"], [0.5, 0.0], [[0], [1]]])
def test_a_wrong_answer_of_a_column_is_left_to_the_rows(wrong):
    assert gold_of_column(pa.array(wrong), np.array([0, 2, 3]), pa.array(["a", "b", "b"])) is None
