"""Stemming: as Snowball does it, once for each distinct word."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
import snowballstemmer
from hypothesis import given
from hypothesis import strategies as st
from tests.text.test_normalize import TEXTS

from linnaeus.errors import MachineError, ModelFileError, UsageError
from linnaeus.features import Words
from linnaeus.text import Analysis, Normalize, as_texts, stem
from linnaeus.text.buffers import as_arrow


def tokenized(analysis: Analysis, texts: list[str]) -> list[list[str]]:
    found, rows = analysis.tokenize(as_texts(pa.array(texts, pa.large_string())))
    words, bounds = as_arrow(found).to_pylist(), rows.tolist()
    return [words[a:b] for a, b in pairwise(bounds)]


@given(st.lists(TEXTS, max_size=4), st.sampled_from(["words", "edges", "scikit", "whitespace"]))
def test_tokens_and_spans_are_the_stems_of_the_words(texts, tokenizer):
    plain, stemmed = Analysis(tokenizer), Analysis(tokenizer, stem="english")
    of = snowballstemmer.stemmer("english").stemWord
    expected = [[of(word) for word in row] for row in tokenized(plain, texts)]
    assert tokenized(stemmed, texts) == expected
    assert [[token.text for token in stemmed.spans(text)] for text in texts] == expected


def test_spans_are_those_of_the_whole_words():
    found = Analysis(stem="english").spans("She flies, Flying")
    assert found == [("she", 0, 3), ("fli", 4, 9), ("fli", 11, 17)]


def test_each_distinct_word_is_stemmed_once(monkeypatch):
    calls = []

    def counting(word):
        calls.append(word)
        return word[:3]

    monkeypatch.setattr(stem, "stemmer", lambda language: counting)
    analysis = Analysis(stem="english")
    texts = ["playing played", "Playing the game, playing it"] * 500
    assert tokenized(analysis, texts)[:2] == [["pla", "pla"], ["pla", "the", "gam", "pla", "it"]]
    assert sorted(calls) == ["game", "it", "played", "playing", "the"]


def test_other_languages():
    words = Words(stem="german", normalize=Normalize()).fit(["Häuser Haus Hauses"])
    assert words.names() == ["haus"]


def test_what_cannot_be_stemmed():
    with pytest.raises(UsageError, match="stem='klingon' is not a language of Snowball; choose one of arabic"):
        Analysis(stem="klingon")
    for tokenizer in ("characters", "bytes"):
        with pytest.raises(UsageError, match="Stemming needs words"):
            Analysis(tokenizer, stem="english")
    with pytest.raises(ModelFileError, match="the settings of its text analysis are unknown"):
        Analysis.from_manifest({"tokenizer": "words", "normalize": {}, "stem": "klingon"})


def test_without_the_package_a_sentence_says_how_to_get_it(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "snowballstemmer", None)
    stem.stemmer.cache_clear()
    with pytest.raises(MachineError, match=r"pip install 'linnaeus\[stem\]'"):
        Analysis(stem="english")
