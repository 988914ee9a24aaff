"""Texts cut for people: nothing is lost, nothing overlaps, marks stay with their letters."""

from __future__ import annotations

import unicodedata
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.explain.test_places import texts

from linnaeus.explain.words import clusters, cut, words


@pytest.mark.parametrize(
    "cluster",
    [
        "e\u0301",
        "👩‍👩‍👧",
        "🇸🇪",
        "👍🏽",
        "\r\n",
        "\u1112\u1161\u11ab",
        "क्ष",
        "한",
        "שָׁ",
        "🏴\U000e0067\U000e0062\U000e007f",
        "❤️",
        "ก็",
    ],
)
def test_what_looks_like_one_character_is_one(cluster):
    assert clusters(cluster) == [(0, len(cluster))]
    assert clusters("a" + cluster + "b") == [(0, 1), (1, 1 + len(cluster)), (1 + len(cluster), 2 + len(cluster))]


def test_flags_are_pairs():
    assert clusters("🇸🇪🇫🇮🇳") == [(0, 2), (2, 4), (4, 5)]


@given(texts | st.text())
def test_pieces_follow_each_other(text):
    for pieces in (clusters(text), cut(text)):
        assert "".join(text[start:end] for start, end in pieces) == text
        assert all(start < end for start, end in pieces)
    starts = {start for start, _ in clusters(text)}
    found = words(text)
    assert all(start in starts for start, _ in cut(text))
    assert all(a[1] <= b[0] for a, b in pairwise(found))
    assert set(found) <= set(cut(text))


@given(texts)
def test_every_letter_is_in_a_word(text):
    inside = {i for span in words(text) for i in range(*span)}
    assert all(i in inside for i, char in enumerate(text) if unicodedata.category(char) in ("Ll", "Lu", "Nd"))
