"""The census of characters and words: kernel against twin, and both against plain counting."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import reference as twin

CODES = 0x110000


def pack(texts: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    offsets = np.cumsum([0, *map(len, texts)]).astype(np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), offsets


def count(*texts: str) -> tuple[list[int], int]:
    _, words, vocabulary = kernels.census(*pack([text.encode() for text in texts]), 1)
    return words.tolist(), len(vocabulary)


@given(st.lists(st.one_of(st.binary(max_size=50), st.text(max_size=50).map(str.encode)), max_size=8), st.integers(1, 8))
def test_the_census_has_the_bits_of_its_twin(texts, threads):
    ours, theirs = kernels.census(*pack(texts), threads), twin.census(*pack(texts), 1)
    for mine, other in zip(ours, theirs, strict=True):
        assert mine.dtype == other.dtype
        assert mine.tolist() == other.tolist() if len(mine) < 100 else (mine == other).all()


@given(st.text(max_size=80))
def test_every_character_is_counted(text):
    characters, _, _ = kernels.census(*pack([text.encode()]), 1)
    assert {chr(code): int(characters[code]) for code in np.flatnonzero(characters)} == Counter(text)


@given(st.binary(max_size=30))
def test_bytes_that_are_no_utf8_are_counted_apart(data):
    characters, _, _ = kernels.census(*pack([data]), 1)
    bad = sum(0xD800 <= ord(char) < 0xE000 for char in data.decode("utf-8", "surrogateescape"))
    assert characters[CODES] == bad


def test_words_are_runs_of_letters_numbers_and_marks_in_lower_case():
    assert count("The cat, the CAT; le_chat 42!") == ([6], 4)
    assert count("Été été ÉTÉ", "e\u0301te\u0301") == ([3, 1], 2)
    assert count("", " \t", "...", "x") == ([0, 0, 0, 1], 1)


def test_each_character_is_a_word_in_scripts_without_spaces():
    assert count("中文中") == ([3], 2)
    assert count("abc中文def") == ([4], 4)


@pytest.mark.parametrize("threads", [2, 3, 8])
def test_many_texts_are_counted_alike_by_any_number_of_threads(threads):
    texts = pack([f"word{i % 911} and word{i % 13}".encode() for i in range(5000)])
    for one, many in zip(kernels.census(*texts, 1), kernels.census(*texts, threads), strict=True):
        assert one.tobytes() == many.tobytes()
