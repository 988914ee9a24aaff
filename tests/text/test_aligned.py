"""Where characters of a normalized text stand in the original, also where normalization changes their order."""

from __future__ import annotations

import sys
import unicodedata
from itertools import pairwise
from random import Random

import pytest

from linnaeus.features.terms.grams import Grams
from linnaeus.text import Analysis, Normalize
from linnaeus.text.normalize import LONGEST_PIECE

FORMS = [("nfc", "NFC"), ("nfkc", "NFKC")]
CODES = [chr(code) for code in range(sys.maxunicode + 1) if not 0xD800 <= code <= 0xDFFF]
MARKS = [char for char in CODES if unicodedata.combining(char)]
LETTERS = [char for char in CODES if char.isalpha() and not "\u4e00" <= char < "\uac00" and char < "\U00017000"]
CHANGING = [char for char in CODES if unicodedata.normalize("NFKC", char) != char or unicodedata.decomposition(char)]
JAMO = [chr(code) for code in (*range(0x1100, 0x1113), *range(0x1161, 0x1176), *range(0x11A7, 0x11C3))]
KINDS = [LETTERS, MARKS, MARKS, MARKS, CHANGING, JAMO, list("aeou x")]


def random_text(rng: Random) -> str:
    """Letters of all scripts with marks that belong to them or not, in any order."""
    near = rng.choice(MARKS)
    block = [mark for mark in MARKS if abs(ord(mark) - ord(near)) < 64]
    return "".join(rng.choice(rng.choice([*KINDS, block, block])) for _ in range(rng.randrange(1, 12)))


def stands(form: str, text: str) -> list[tuple[str, int, int]]:
    """Each normalized character with its span, by the slow way.

    The text is cut wherever the two sides, normalized alone, give the whole normalized; what lies between two cuts
    belongs together.
    """
    whole = unicodedata.normalize(form, text)
    cuts = [
        i
        for i in range(len(text) + 1)
        if unicodedata.normalize(form, text[:i]) + unicodedata.normalize(form, text[i:]) == whole
    ]
    found = [(char, a, b) for a, b in pairwise(cuts) for char in unicodedata.normalize(form, text[a:b])]
    assert "".join(char for char, _, _ in found) == whole
    return found


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("seed", range(8))
def test_characters_stand_on_what_they_were_made_of(name, form, seed):
    rng = Random(seed)
    for _ in range(250):
        text = random_text(rng)
        aligned = Normalize(name, case=None).align(text)
        assert list(zip(aligned.text, aligned.starts, aligned.ends, strict=True)) == stands(form, text), ascii(text)


@pytest.mark.parametrize(("name", "form"), FORMS)
@pytest.mark.parametrize("seed", range(4))
def test_n_grams_stand_on_all_their_characters(name, form, seed):
    rng = Random(seed)
    grams = Grams(Analysis(normalize=Normalize(name, case=None)), "across", 1, 4)
    for _ in range(100):
        text = random_text(rng).replace(" ", "a").replace("\u00a0", "a")
        text = "".join(char for char in text if " " not in unicodedata.normalize("NFKD", char) and not char.isspace())
        chars = stands(form, text)
        expected = [
            (("".join(char for char, _, _ in part).encode(),), min(a for _, a, _ in part), max(b for _, _, b in part))
            for n in range(1, min(4, len(chars)) + 1)
            for part in (chars[i : i + n] for i in range(len(chars) - n + 1))
        ]
        assert grams.placed(text) == expected, ascii(text)
        for (term,), start, end in expected:
            assert term.decode() in unicodedata.normalize(form, text[start:end])


@pytest.mark.parametrize(
    ("text", "term", "span"),
    [
        ("د\u0651\u064eر", "\u0651ر", (1, 4)),  # Arabic: shadda is typed before fatha, and sorted after it
        ("د\u0651\u064eر", "د\u064e", (0, 3)),
        ("ש\u05c1\u05b8ל", "\u05c1ל", (1, 4)),  # Hebrew: the dot of shin is typed before qamats
        ("e\u0301\u0323x", "\u0301x", (0, 4)),  # a dot below joins the letter, the accent typed before it does not
        ("ກ\u0ec9\u0eb8ນ", "\u0ec9ນ", (1, 4)),  # Lao: the tone is typed before the vowel below
        ("e\u0334\u0301x", "\u0334x", (0, 4)),  # the accent joins the letter over the head of a tilde
    ],
)
def test_marks_in_another_order(text, term, span):
    placed = Grams(Analysis(), "across", 2, 2).placed(text)
    assert [(start, end) for (found,), start, end in placed if found.decode() == term] == [span]


def test_what_cannot_be_cut_is_taken_whole():
    text = "x" + "\u1100\u1161" + "\u1161" * LONGEST_PIECE + "y"
    aligned = Normalize(case=None).align(text)
    assert aligned.text == unicodedata.normalize("NFC", text)
    assert aligned.span(1, 2) == aligned.span(len(aligned.text) - 2, len(aligned.text) - 1) == (1, len(text) - 1)
    assert aligned.span(len(aligned.text) - 1, len(aligned.text)) == (len(text) - 1, len(text))
