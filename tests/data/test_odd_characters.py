"""NULs and halves of surrogate pairs in labels, tags and texts: one sentence that names the row."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import Groups, Sentences, TextClassifier, read, read_groups, read_sentences
from linnaeus.errors import DataError

TEXTS = ["apple pear", "iron zinc", "plum", "lead"] * 3
HALF = "b\ud800"


@pytest.mark.parametrize("odd", [HALF, "a\0"], ids=["half", "nul"])
@pytest.mark.parametrize("form", [list, tuple, lambda labels: np.array(labels, object)], ids=["list", "tuple", "array"])
def test_a_label_that_is_no_text_is_refused_with_its_row(odd, form):
    with pytest.raises(DataError, match=r"The label of row 2 is .*, which holds (half a surrogate pair|a NUL)"):
        TextClassifier().fit(TEXTS, form(["a", "b", odd, "a"] * 3))
    with pytest.raises(DataError, match=r"The label of row 1 is"):
        TextClassifier().fit(TEXTS, [["a"], ["b", odd], ["a", "b"], ["b"]] * 3)


def test_numpy_strings_with_half_a_pair_are_refused():
    with pytest.raises(DataError, match="row 1"):
        TextClassifier().fit(TEXTS, np.array(["a", HALF, "c", "a"] * 3))


def test_labels_that_differ_by_a_nul_do_not_merge(tmp_path):
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nx,a\ny,a\0\nz,b\n")
    with pytest.raises(DataError, match=r"a\.csv, row 2: the label in column 'label' holds a NUL"):
        read(path).batch()
    assert read(path, bad_rows="skip").classes == ("a", "b")
    with pytest.raises(DataError, match="row 2"):
        read({"text": ["x", "y"], "label": [["a", "b"], ["c", "a\0"]]})
    with pytest.raises(DataError, match=r"sentence 2: the tag 'X\\x00' holds a NUL"):
        read_sentences([[("a", "X")], [("b", "Y"), ("c", "X\0")]])
    with pytest.raises(DataError, match=r"row 2: the tag 'X\\x00' holds a NUL"):
        read_sentences({"tokens": [["a"], ["b"]], "tags": [["X"], ["X\0"]]})


@pytest.mark.parametrize(
    "make",
    [
        lambda: read(["a", HALF]),
        lambda: read([("a", "x"), ("b", HALF)]),
        lambda: read({"text": ["a", "b"], "label": [["x"], ["y", HALF]]}),
        lambda: read_groups([{"text": "a", "candidates": ["x"]}, {"text": "b", "candidates": ["y", HALF]}]),
        lambda: Groups.from_lists(["a", "b"], [["x"], ["y", HALF]]),
        lambda: Groups.from_lists(["a", HALF], [["x"], ["y"]]),
        lambda: Sentences.from_lists([["a"], [HALF]]),
    ],
)
def test_half_a_pair_in_memory_is_refused_with_its_row(make):
    with pytest.raises(DataError, match=r"(row|sentence) 2: .* half a surrogate pair"):
        make()


@pytest.mark.parametrize("name", ["a.conll", "a.iob"])
def test_one_sentence_without_a_blank_line_at_its_end(tmp_path, name):
    (tmp_path / name).write_text("A\tDET\ndog\tNOUN\nbarks\tVERB")
    found = read_sentences(tmp_path / name)
    assert found.lists() == [["A", "dog", "barks"]]
    assert found.tags.to_pylist() == ["DET", "NOUN", "VERB"]
