"""Entities as tags: every encoding written and read again, and inconsistent tags read as seqeval reads them."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.data.tag_encodings import ENCODINGS, Spans, allowed, convert, is_encoded, spans, write
from linnaeus.errors import UsageError

TAGS = ["O", "B-X", "I-X", "E-X", "S-X", "B-Y", "I-Y", "E-Y", "S-Y"]
tagged = st.lists(st.lists(st.sampled_from(TAGS), max_size=8), max_size=5)


def flat(rows):
    return [tag for row in rows for tag in row], np.cumsum([0] + [len(row) for row in rows]).astype(np.int64)


def ends(before, tag):
    (p, _, a), (t, _, b) = before.partition("-"), tag.partition("-")
    return p in "ES" or (p in "BI" and t in "BSO") or (p != "O" and a != b)


def begins(before, tag):
    (p, _, a), (t, _, b) = before.partition("-"), tag.partition("-")
    return t in "BS" or (p in "ESO" and t in "EI") or (t != "O" and a != b)


def as_seqeval(rows):
    """The rules of seqeval's get_entities, sentences kept apart by an O."""
    found, at = [], 0
    for row in rows:
        before, start = "O", 0
        for i, tag in enumerate([*row, "O"]):
            if ends(before, tag):
                found.append((at + start, at + i, before.partition("-")[2]))
            if begins(before, tag):
                start = i
            before = tag
        at += len(row)
    return found


@given(tagged)
def test_any_tags_are_read_as_seqeval_reads_them(rows):
    tags, offsets = flat(rows)
    assert spans(tags, offsets).listed() == as_seqeval(rows)


@given(tagged, st.sampled_from(ENCODINGS))
def test_converting_keeps_the_entities_and_obeys_the_encoding(rows, encoding):
    tags, offsets = flat(rows)
    made = convert(tags, offsets, encoding)
    assert spans(made, offsets).listed() == spans(tags, offsets).listed()
    names = sorted({*TAGS, *made.to_pylist()})
    follows, first, last = allowed(names, encoding)
    for a, b in itertools.pairwise(offsets):
        codes = [names.index(tag) for tag in made.to_pylist()[a:b]]
        assert not codes or (first[codes[0]] and last[codes[-1]])
        assert all(follows[i, j] for i, j in itertools.pairwise(codes))


@pytest.mark.parametrize(
    ("encoding", "tags"),
    [
        ("bio", ["B-X", "I-X", "B-X", "O", "B-Y"]),
        ("bioes", ["B-X", "E-X", "S-X", "O", "S-Y"]),
        ("iob1", ["I-X", "I-X", "B-X", "O", "I-Y"]),
    ],
)
def test_what_each_encoding_writes(encoding, tags):
    found = Spans(np.array([0, 2, 4]), np.array([2, 3, 5]), np.array([0, 0, 1], np.int32), ("X", "Y"))
    assert write(found, 5, encoding) == tags
    assert spans(tags, np.array([0, 5])).listed() == found.listed()


def test_bilou_is_read_as_bioes():
    assert spans(["U-X", "B-X", "L-X"], np.array([0, 3])).listed() == [(0, 1, "X"), (1, 3, "X")]


def test_types_may_hold_hyphens_and_nothing_is_nothing():
    assert spans(["B-a-b", "I-a-b"], np.array([0, 2])).listed() == [(0, 2, "a-b")]
    assert spans([], np.array([0])).listed() == []
    assert spans([None, "B-X"], np.array([0, 2])).listed() == [(1, 2, "X")]


def test_tags_of_words_are_no_entities():
    assert not is_encoded(["NN", "VB"])
    follows, first, last = allowed(["NN", "VB"], "bioes")
    assert follows.all()
    assert first.all()
    assert last.all()


def test_an_unknown_encoding_is_refused():
    with pytest.raises(UsageError, match="bio, bioes, iob1"):
        convert(["O"], np.array([0, 1]), "iobes")
