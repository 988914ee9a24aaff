"""Plain text to sentences of tokens."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.text import sentences

CUTS = {
    "A dog. A cat!": [["A", "dog", "."], ["A", "cat", "!"]],
    "He lives in the U.S. today.": [["He", "lives", "in", "the", "U.S.", "today", "."]],
    "Mr. Brown paid 1,000.50 (at 9:30).": [["Mr.", "Brown", "paid", "1,000.50", "(", "at", "9:30", ")", "."]],
    "I won't; they're Ann's.": [["I", "wo", "n't", ";", "they", "'re", "Ann", "'s", "."]],
    'She said: "Go." Then left.': [["She", "said", ":", '"', "Go", ".", '"'], ["Then", "left", "."]],
    "well-known R&D at x@y.org": [["well-known", "R&D", "at", "x@y.org"]],
    "wait... what": [["wait", "...", "what"]],
    "A title\n\nThe body": [["A", "title"], ["The", "body"]],
    "今日は。いい天気": [["今日は", "。"], ["いい天気"]],
    "": [],
    " \n\n ": [],
}


@pytest.mark.parametrize("text", CUTS)
def test_sentences_are_cut_as_people_do(text):
    assert [[token.text for token in sentence] for sentence in sentences(text)] == CUTS[text]


@given(st.text(max_size=80))
def test_tokens_lie_in_the_text_in_order_and_leave_nothing_but_space(text):
    found = [token for sentence in sentences(text) for token in sentence]
    assert all(text[token.start : token.end] == token.text for token in found)
    assert all(a.end <= b.start for a, b in itertools.pairwise(found))
    left = set("".join(text.split()))
    for token in found:
        left -= set(token.text)
    assert not left


def test_a_long_text_is_cut_in_one_go():
    assert sum(map(len, sentences("one two. " * 30_000))) == 90_000
