"""Texts as numbers of words: counts, order, ends of texts, cases, and nothing left behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

import linnaeus
from linnaeus.embeddings import encoded
from linnaeus.embeddings import encoding as module
from linnaeus.errors import DataError, UsageError


def decoded(text):
    """The words again, text by text."""
    found = [[]]
    for number in text.ids[:].tolist():
        if number < 0:
            found.append([])
        else:
            found[-1].append(text.words[number])
    return found[:-1]


@given(st.lists(st.lists(st.sampled_from("abcde"), min_size=1, max_size=6), min_size=1, max_size=8), st.integers(1, 2))
def test_words_come_back_without_the_rare_ones(lines, least):
    counts = {word: sum(line.count(word) for line in lines) for word in "abcde"}
    kept = {word for word, count in counts.items() if count >= least}
    if not kept:
        return
    with encoded([" ".join(line) for line in lines], min_count=least) as text:
        assert decoded(text) == [[word for word in line if word in kept] for line in lines]
        assert text.counts.tolist() == sorted((counts[word] for word in kept), reverse=True)
        assert text.total == sum(map(len, lines))


def test_files_are_read_in_pieces(tmp_path, monkeypatch):
    path = tmp_path / "texts.csv"
    path.write_text("text\n" + "the cat sat\nthe dog ran\n" * 50, "utf-8")
    with encoded(["the cat sat", "the dog ran"] * 50, min_count=1) as wanted:
        monkeypatch.setattr(module, "BLOCK", 7)
        corpus = linnaeus.read(path, label="", batch_rows=3)
        with encoded(corpus, min_count=1) as text:
            assert text.words == wanted.words
            assert text.ids[:].tolist() == wanted.ids[:].tolist()


def test_case_and_the_most_words():
    with encoded(["A a b", "B c"], min_count=1, lowercase=False) as text:
        assert set(text.words) == {"A", "a", "b", "B", "c"}
    with encoded(["A a b", "B c"], min_count=1, most=2) as text:
        assert text.words == ["a", "b"]


def test_texts_without_words_are_refused_and_nothing_is_left():
    before = set(Path(tempfile.gettempdir()).glob("linnaeus-words-*"))
    for texts in ([], ["", "..."], ["once"]):
        with pytest.raises(DataError, match="No word occurs"), encoded(texts, min_count=2):
            pass
    with pytest.raises(UsageError), encoded(["a"], min_count=0):
        pass
    assert set(Path(tempfile.gettempdir()).glob("linnaeus-words-*")) == before
