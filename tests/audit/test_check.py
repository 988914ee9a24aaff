"""What `check` finds in small data sets whose faults are known."""

from __future__ import annotations

import json

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import linnaeus
from linnaeus.audit import FINDINGS, SCHEMA, Audit, Limits, Near, check
from linnaeus.audit.check import kinds
from linnaeus.errors import DataError, UsageError


def audit(rows, other=None, **options) -> Audit:
    return check(corpus(rows), corpus(other) if other else None, **options)


def corpus(rows):
    texts, labels = zip(*rows, strict=True)
    return linnaeus.read({"text": list(texts), "label": list(labels)})


def found(result: Audit) -> dict[str, int]:
    return {finding.kind: finding.count for finding in result.findings if finding.kind != "rare_labels"}


STORY = "once upon a time there was a long sentence about number {} that went on and on"


def test_clean_data_have_no_findings():
    rows = [
        (f"{word} {word} {i}", "ab"[i % 2])
        for i, word in enumerate(["oak", "elm", "ash", "fir", "yew", "box", "bay", "fig", "gum", "koa"])
    ]
    result = audit(rows)
    assert result.findings == ()
    assert result.ok


def test_labels_are_counted_with_shares():
    result = audit([("one", "b"), ("two", "a"), ("three", "b"), ("four", "c")])
    assert [(label.name, label.count, label.share) for label in result.data.labels] == [
        ("b", 2, 0.5),
        ("a", 1, 0.25),
        ("c", 1, 0.25),
    ]


def test_lengths_words_and_scripts_are_summed_up():
    data = audit([("aa bb", "x"), ("aa", "y"), ("мир", "x"), ("中文", "y")]).data
    assert (data.rows, data.vocabulary) == (4, 5)
    assert data.bytes == sum(len(text.encode()) for text in ("aa bb", "aa", "мир", "中文"))
    assert (data.characters.smallest, data.characters.largest, data.words.median) == (2, 5, 1.5)
    assert [(script.name, script.count) for script in data.scripts] == [("Latin", 6), ("Cyrillic", 3), ("Han", 2)]


def test_empty_texts_are_found_and_are_no_duplicates():
    assert found(audit([("", "a"), (" \t\u3000", "b"), ("", "b"), ("word", "a")])) == {"empty": 3}


def test_repeated_texts_count_the_later_rows_and_forget_case_and_space():
    result = audit([("Play it", "a"), ("stop", "b"), ("play  it ", "a"), ("Play it", "a")])
    assert found(result) == {"duplicates": 2}
    first = next(f for f in result.findings if f.kind == "duplicates").examples[0]
    assert (first.row, first.match, first.similarity) == (2, 0, 1)


def test_conflicting_labels_put_every_row_of_the_text_in_doubt():
    result = audit([("play it", "a"), ("play it", "a"), ("play it", "b"), ("stop", "b")])
    assert found(result) == {"duplicates": 2, "conflicts": 3}


def test_sets_of_labels_agree_in_any_order():
    rows = [("play it", ["a", "b"]), ("play it", ["b", "a"]), ("stop", []), ("go", ["a"])]
    result = audit(rows)
    assert found(result) == {"duplicates": 1}
    assert result.data.label_kind == "many"
    assert [(label.name, label.count) for label in result.data.labels] == [("a", 3), ("b", 2)]


def test_near_duplicates_and_their_conflicts_are_found():
    result = audit([(STORY.format(1), "a"), ("else", "b"), (STORY.format(2), "a"), (STORY.format(3), "b")])
    assert found(result) == {"near_duplicates": 2, "near_conflicts": 1}
    assert 0.8 <= result.findings[0].examples[0].similarity < 1


def test_different_texts_are_not_near():
    assert "near_duplicates" not in found(audit([(f"{i} {i * 7} {i * 13} {i * 31}", "ab"[i % 2]) for i in range(200)]))


def test_leaks_and_unseen_labels_are_those_of_the_other_data():
    result = audit(
        [(STORY.format(1), "a"), ("stop it", "b")], [("Stop  it", "b"), (STORY.format(2), "a"), ("new", "c"), ("", "a")]
    )
    assert found(result) == {"leaks": 1, "near_leaks": 1, "unseen_labels": 1}
    assert {finding.kind: finding.total for finding in result.findings}["leaks"] == 4
    assert result.other.rows == 4


@pytest.mark.parametrize("text", ["cafÃ©", "itâ€™s", "a\ufffdb", "nul\x00", "Ð¼Ð¸Ñ€", "\u0092quote", "ï»¿text", "Â£5"])
def test_wrong_decoding_is_seen(text):
    assert found(audit([(text, "a"), ("fine", "b")])) == {"damaged": 1}


@pytest.mark.parametrize(
    "text", ["café", "Ânier", "SÃO PAULO", "мир", "Ñandú", "Ísland Ð", "tab\tand\nline", "£5 – “so”"]
)
def test_right_decoding_is_left_alone(text):
    assert found(audit([(text, "a"), ("fine", "b")])) == {}


def test_one_label_and_rare_labels_are_problems():
    result = audit([("one", "a"), ("two", "a")])
    assert {finding.kind for finding in result.problems} == {"one_label", "rare_labels"}


def test_numeric_labels_are_spread_out():
    result = audit([("one", 1.5), ("two", 2.5), ("one", 3.5)])
    assert result.data.label_kind == "numeric"
    assert (result.data.numbers.smallest, result.data.numbers.mean, result.data.numbers.largest) == (1.5, 2.5, 3.5)
    assert sum(result.data.numbers.counts) == 3
    assert found(result) == {"duplicates": 1, "conflicts": 2}


def test_data_without_labels_have_no_label_findings():
    result = check(linnaeus.read(["one", "two", "two"]))
    assert {finding.kind for finding in result.findings} == {"duplicates"}
    assert result.data.label_kind == "none"


def test_limits_decide_what_is_a_problem():
    rows = [("same", "a"), ("same", "a"), ("other", "b"), ("third", "b")]
    assert not audit(rows).ok
    assert audit(rows, limits=Limits().changed(["all=1"])).ok
    assert audit(rows, limits=Limits().changed(["duplicates=25%", "rare-labels=100%"])).ok
    assert not audit(rows, limits=Limits().changed(["duplicates=24.9%", "rare_labels=1"])).ok


@pytest.mark.parametrize(
    ("setting", "says"), [("leeks=0", "did you mean 'leaks'"), ("leaks", "NAME=SHARE"), ("leaks=2", "from 0 to 1")]
)
def test_wrong_limits_are_refused_with_a_sentence(setting, says):
    with pytest.raises(UsageError, match=says):
        Limits().changed([setting])


@pytest.mark.parametrize("wrong", [{"threshold": 0}, {"threshold": 1.1}, {"bands": 0}, {"shingle": 0}])
def test_wrong_searches_are_refused(wrong):
    with pytest.raises(UsageError):
        Near(**wrong)


def test_every_finding_has_a_limit():
    assert list(FINDINGS) == kinds()


def test_the_json_form_is_one_plain_object():
    form = audit([("x", "a"), ("x", "b")], [("x", "a")]).to_json()
    assert json.loads(json.dumps(form)) == json.loads(json.dumps(form, allow_nan=False))
    assert form["schema"] == SCHEMA
    assert {"ok", "data", "other", "findings"} <= set(form)
    assert {"kind", "count", "total", "share", "limit", "problem", "sentence", "examples"} <= set(form["findings"][0])


@settings(max_examples=40)
@given(
    st.lists(st.tuples(st.text(max_size=12), st.sampled_from("ab")), min_size=1, max_size=20),
    st.integers(1, 7),
    st.integers(1, 3),
)
def test_batches_and_threads_never_change_the_answer(rows, batch_rows, threads):
    whole = audit(rows, rows)
    texts, labels = zip(*rows, strict=True)
    cut = linnaeus.read({"text": list(texts), "label": list(labels)}, batch_rows=batch_rows)
    with linnaeus.threads(threads):
        assert check(cut, cut).to_json() == whole.to_json()


def test_phases_are_told():
    heard = []
    audit([("one", "a")], [("two", "a")], watch=heard.append)
    assert heard == ["reading", "reading the other", "comparing"]


def test_arrow_text_that_is_no_utf8_is_refused():
    bad = pa.StringArray.from_buffers(1, pa.py_buffer(np.array([0, 2], np.int32)), pa.py_buffer(b"a\xff"))

    class Stream:
        def batches(self):
            yield linnaeus.Batch(text=bad)

    with pytest.raises(DataError, match="UTF-8"):
        check(Stream())


def test_rows_of_features_without_text_are_counted(tmp_path):
    path = tmp_path / "data.libsvm"
    path.write_text("1 1:2.5 3:1\n-1 2:1\n")
    result = check(linnaeus.read(path))
    assert result.data.rows == 2
    assert result.data.characters is None


def test_an_audit_prints_as_a_page_and_is_safe_in_a_notebook():
    result = audit([("<script>", "a"), ("<script>", "b")])
    assert "Findings" in str(result)
    assert "<script>" not in result._repr_html_()


def test_rows_without_a_label_are_a_problem():
    class Stream:
        def batches(self):
            yield linnaeus.Batch(text=pa.array(["one", "two"]), labels=pa.array(["a", None]))

    assert {finding.kind for finding in check(Stream()).problems} >= {"unlabeled"}


def test_a_wrongly_decoded_place_is_shown_with_what_stands_around_it():
    result = audit([("x" * 500 + " a cafÃ© in Paris", "a"), ("fine", "b")])
    assert "cafÃ© in Paris" in result.findings[0].examples[0].text
