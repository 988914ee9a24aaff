"""Edit scripts: each pair of form and lemma has one, which is written and read back, and fits other forms."""

from __future__ import annotations

import pyarrow as pa
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from linnaeus.data.sentences import Sentences
from linnaeus.errors import ModelFileError
from linnaeus.tasks.tag import edits
from linnaeus.tasks.tag.edits import CASES, Edit, Edits, Whole, parse, script_of
from linnaeus.tasks.tag.encoding import ENCODINGS

LETTERS = st.text(alphabet="aAbBsSßİıǅΣςﬃ$^+=\\ 1", max_size=8)
STRINGS = st.one_of(st.text(max_size=12), LETTERS)


@given(STRINGS, STRINGS)
@example("", "")
@example("", "a")
@example("a", "")
@example("İ", "i")
@example("STRASSE", "Straße")
@example("ﬃ", "FFI")
def test_the_script_of_a_form_makes_its_lemma(form, lemma):
    script = script_of(form, lemma)
    assert script.apply(form) == lemma
    assert parse(str(script)) == script
    assert str(parse(str(script))) == str(script)


@given(STRINGS, STRINGS)
def test_a_lemma_is_whole_only_if_nothing_is_common(form, lemma):
    script = script_of(form, lemma)
    common = any(set(change(form)) & set(lemma) for change in CASES.values())
    assert isinstance(script, Edit) == common


@given(st.text(min_size=1, max_size=10), STRINGS)
def test_no_script_with_another_case_is_shorter(form, lemma):
    script = script_of(form, lemma)
    if isinstance(script, Edit):
        cost = script.front + script.back + len(script.before) + len(script.behind)
        for change in CASES.values():
            base = change(form)
            kept = (base[i:j] for i in range(len(base)) for j in range(i + 1, len(base) + 1))
            longest = max((len(part) for part in kept if part in lemma), default=0)
            assert longest == 0 or cost <= len(base) + len(lemma) - 2 * longest


@given(st.sampled_from(list(CASES)), st.integers(0, 3), LETTERS, st.integers(0, 3), LETTERS, st.text(max_size=6))
def test_every_script_is_written_and_read(case, front, before, back, behind, form):
    script = Edit(case, front, before, back, behind)
    assert parse(str(script)) == script
    fits = front + back < len(CASES[case](form))
    assert (script.apply(form) is not None) == fits
    assert parse(str(Whole(before))) == Whole(before)


@pytest.mark.parametrize(
    ("form", "lemma", "written"),
    [
        ("dogs", "dog", "lower $1"),
        ("Dogs", "dog", "lower $1"),
        ("The", "the", "lower"),
        ("the", "the", "lower"),
        (".", ".", "lower"),
        ("Paris", "Paris", "keep"),
        ("PARIS", "Paris", "title"),
        ("nato", "NATO", "upper"),
        ("parties", "party", "lower $3+y"),
        ("gemacht", "machen", "lower ^2 $1+en"),
        ("is", "be", "=be"),
        ("ca", "can", "lower $0+n"),
        ("x", "$x", "lower ^0+\\$"),
    ],
)
def test_scripts_as_they_are_written(form, lemma, written):
    assert str(script_of(form, lemma)) == written


def test_a_script_fits_forms_that_it_was_not_made_from():
    assert script_of("parties", "party").apply("Berries") == "berry"
    assert script_of("gemacht", "machen").apply("gesagt") == "sagen"
    assert script_of("dogs", "dog").apply("s") is None
    assert script_of("dogs", "dog").apply("") is None


def test_a_case_may_change_the_length():
    assert len("İ".lower()) == 2
    assert Edit("lower", back=1).apply("İ") == "i"
    assert Edit("upper", back=1).apply("ß") == "S"


@pytest.mark.parametrize(
    "text",
    [
        *("", "lowercase", "lower $", "lower $0", "lower ^0", "lower $1+", "lower $01", "lower  $1", "lower $1 ^1"),
        *("lower ^1+a\\b", "lower ^1+a$ $1", "keep $9999999999", "keep $-1", "LOWER", "lower\n", "lower $٣"),
    ],
)
def test_what_is_no_script_is_refused(text):
    with pytest.raises(ModelFileError, match="no edit script"):
        parse(text)


def test_long_forms_take_no_time_that_grows_like_a_square_of_pairs():
    form = "ab" * 5000
    assert script_of(form + "s", form).apply(form + "s") == form
    assert script_of(form, "ba" * 5000).apply(form) == "ba" * 5000


def found(tokens, lemmas):
    return Edits().classes(Sentences.from_lists(tokens, lemmas)).to_pylist()


def test_scripts_of_one_token_are_learned_in_small_data_only(monkeypatch):
    tokens, lemmas = [["dogs", "cats", "teh", "The"]], [["dog", "cat", "the", "the"]]
    assert found(tokens, lemmas) == ["lower $1", "lower $1", "lower $2+he", "lower"]
    monkeypatch.setattr(edits, "MANY_TOKENS", 3)
    assert found(tokens, lemmas) == ["lower $1"] * 4


def test_only_scripts_that_fit_a_token_are_candidates():
    names = ["=be", "keep", "lower $1", "upper $1"]
    fits = Edits().fitting(names, pa.array(["", "a", "ß", "ab"])).astype(int).tolist()
    assert fits == [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 0, 1], [1, 1, 1, 1]]
    assert Edits().fitting(["keep"], pa.array(["", "a"])).all(), "each script where none fits"


def test_a_script_that_does_not_fit_leaves_the_form():
    said = Edits().answers([0, 0, 1], ["lower $1", "=be"], pa.array(["As", "A", "A"]))
    assert said.to_pylist() == ["a", "A", "be"]


def test_every_encoding_of_the_table_answers():
    for name in ENCODINGS:
        coder = ENCODINGS[name]()
        assert coder.answers([0], ["O" if name != "edits" else "=O"], pa.array(["a"])).to_pylist() == ["O"]
        assert coder.entities in (None, True, False)
