"""A character keeps 30 combining marks: what is normalized is in the Stream-Safe Text Format of UAX 15."""

from __future__ import annotations

import sys
import unicodedata
from random import Random

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linnaeus.features.terms.grams import Grams
from linnaeus.text import Analysis, Normalize, as_texts, spans, tokens
from linnaeus.text.buffers import as_arrow
from linnaeus.text.normalize import LONG_RUN, MARK_RANGE, MAX_MARKS, limit_marks

MARKS = "\u0301\u0323\u0327\u0308\u0316\u0344\u0f73\u0f81"
TEXTS = st.lists(
    st.text(alphabet="ae\u1f82\u0f77\u00e9 x\u1161\u09be", max_size=3)
    | st.text(alphabet=MARKS, min_size=10, max_size=50)
    | st.text(max_size=5),
    max_size=6,
).map("".join)
SETTINGS = st.builds(
    Normalize,
    form=st.sampled_from([None, "nfc", "nfkc"]),
    case=st.sampled_from([None, "lower", "fold"]),
    accents=st.booleans(),
)


def is_mark(char: str) -> bool:
    """Whether nothing but combining marks is left of a character that is taken apart."""
    return all(unicodedata.combining(part) for part in unicodedata.normalize("NFKD", char))


def defined(text: str) -> str:
    """The rule, character by character: a mark that would be the 31st or later behind its character is dropped."""
    kept, count, full = [], 0, False
    for char in text:
        parts = unicodedata.normalize("NFKD", char)
        if is_mark(char):
            full = full or count + len(parts) > MAX_MARKS
            count += len(parts)
        else:
            full = False
            count = len(parts) - 1 - max(i for i, part in enumerate(parts) if not unicodedata.combining(part))
        if not full:
            kept.append(char)
    return "".join(kept)


def random_marks(count: int, seed: int = 0) -> str:
    return "".join(Random(seed).choices("\u0301\u0323\u0327\u0308\u0316", k=count))


def test_all_marks_are_found():
    """What the search for long runs relies on holds for every character there is."""
    for char in map(chr, range(sys.maxunicode + 1)):
        parts = unicodedata.normalize("NFKD", char)
        marks = [unicodedata.combining(part) != 0 for part in parts]
        if all(marks):
            assert MARK_RANGE[0] <= ord(char) < MARK_RANGE[1]
            assert 2 * (LONG_RUN - 1) + 3 <= MAX_MARKS
            assert len(parts) <= 2
        else:
            assert not marks[0]
            assert sum(marks[1:]) <= 3 or not marks[-1]


@given(TEXTS)
@example("e" + 20 * "\u0301" + 20 * "\U0001d167")  # a run across the end of the basic plane
def test_the_rule(text):
    assert limit_marks(text) == defined(text)
    assert limit_marks(limit_marks(text)) == limit_marks(text)


@given(SETTINGS, TEXTS)
def test_every_way_through_normalization_heeds_it(settings, text):
    limited = settings(defined(text) if settings.form or not settings.accents else text)
    assert settings(text) == settings.align(text).text == limited
    before_case = Normalize(settings.form, None, settings.accents)
    ready = as_arrow(settings.prepare(as_texts(pa.array([text], pa.large_string())))).to_pylist()
    assert ready == [before_case(text)]


@given(st.sampled_from(["nfc", "nfkc"]), TEXTS)
def test_no_character_keeps_more(form, text):
    count = 0
    for char in unicodedata.normalize("NFKD", Normalize(form, case=None)(text)):
        count = count + 1 if unicodedata.combining(char) else 0
        assert count <= MAX_MARKS


def test_texts_within_the_limit_are_normalized_as_before():
    text = "a" + random_marks(MAX_MARKS) + "b" + random_marks(MAX_MARKS, 1)
    assert Normalize(case=None)(text) == unicodedata.normalize("NFC", text)


@pytest.mark.parametrize("form", ["nfc", "nfkc"])
def test_marks_that_are_dropped_belong_to_the_last_one_kept(form):
    text = "x a" + random_marks(100) + " y"
    normalize = Normalize(form)
    assert [(token.start, token.end) for token in spans(text, normalize=normalize)] == [(0, 1), (2, 103), (104, 105)]
    assert [token.text for token in spans(text, normalize=normalize)] == tokens([text], normalize=normalize)[0]
    (*_, (_, start, end)) = Grams(Analysis(normalize=normalize), "across", 2, 2).placed(text)
    assert (start, end) == (103, 105)


def test_a_character_with_very_many_marks():
    """Took a minute before there was a limit: sorting marks takes quadratic time."""
    text = "a" + random_marks(200_000)
    assert len(limit_marks(text)) == 1 + MAX_MARKS
    assert Normalize()(text) == Normalize()(text[: 1 + MAX_MARKS])
    (token,) = spans(text)
    assert (token.start, token.end) == (0, len(text))


@pytest.mark.parametrize(
    ("entity", "char"),
    [("&#" + "9" * 5000 + ";", "\ufffd"), ("&#" + "0" * 5000 + "65;", "A"), ("&#x" + "0" * 5000 + "41;", "A")],
)
def test_entities_of_thousands_of_digits(entity, char):
    normalize = Normalize(html=True, case=None)
    assert normalize(entity) == normalize.align(entity).text == char
    assert normalize.align(entity).span(0, 1) == (0, len(entity))


@pytest.mark.parametrize("settings", [Normalize(), Normalize("nfkc"), Normalize(accents=False)])
@pytest.mark.parametrize("way", ["one", "many", "aligned"])
def test_the_work_is_linear(settings, way, monkeypatch):
    """Sorting marks costs the square of their number: what is handed to be sorted grows with the text, no faster."""
    ways = {
        "one": settings,
        "many": lambda text: settings.prepare(as_texts(pa.array([text], pa.large_string()))),
        "aligned": settings.align,
    }
    original, work = unicodedata.normalize, []

    def counted(form: str, text: str) -> str:
        runs = "".join("m" if unicodedata.combining(char) else " " for char in text).split()
        work.append(len(text) + sum(len(run) ** 2 for run in runs))
        return original(form, text)

    limit_marks(random_marks(50))  # what is found out once about all characters does not count
    monkeypatch.setattr(unicodedata, "normalize", counted)
    sums = []
    for size in (1000, 10_000):
        work.clear()
        ways[way]("a" + random_marks(size) + " " + ("e\u0301" + random_marks(40)) * (size // 40))
        sums.append(sum(work))
    assert sums[1] < 12 * sums[0]
