"""Contributions add up to the score, for every extractor and every output space."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from tests.contracts.test_extractors import EXAMPLES, TEXTS, corpus
from tests.explain.models import SPACES, check_sums, random_model

from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, InputTypeError, UsageError
from linnaeus.explain import Linear, Neighbor, explain
from linnaeus.features import Columns, Conjunction, Hashed, Lexicon, Ready, Shape, Skips, TransformerVectors, Words
from linnaeus.outputs import Binary, Multiclass, MultiLabel, OneVsOne, Real

# An encoder in a folder says nothing of single words.
PLACED = [one for one in EXAMPLES if not isinstance(one, TransformerVectors)]


@pytest.fixture(params=PLACED, ids=repr)
def fitted(request):
    return request.param.fit(corpus())


def test_contributions_add_up_for_every_extractor(fitted):
    model, rows = random_model(fitted), corpus()
    for i in range(len(rows)):
        row = rows.slice(i, 1)
        why = explain(row, model, ["a", "b", "c"], search=None)
        check_sums(why)
        S = model.scores(row)[0]
        assert [reason.score for reason in why.reasons] == pytest.approx(
            [S["abc".index(reason.name)] for reason in why.reasons], abs=1e-5
        )
        assert why.predicted == ("abc"[int(S.argmax())],)


@pytest.mark.parametrize(("space", "k"), SPACES, ids=repr)
def test_contributions_add_up_in_every_output_space(space, k):
    model = random_model(Words(ngrams=(1, 2), values="tfidf", length="l2").fit(TEXTS), space, k)
    for text in TEXTS:
        why = explain(text, model, model.classes)
        check_sums(why)
        S = model.scores([text])
        K = model.class_scores(S)[0]
        assert sorted(reason.name for reason in why.reasons) == sorted(model.classes)
        for reason in why.reasons:
            assert reason.standing == pytest.approx(K[model.classes.index(reason.name)])
        str(why), why.to_html(), why.to_json()


def test_two_classes_have_one_score_seen_from_both_sides():
    features = Words().fit(["good bad"])
    model = Linear(
        features, np.array([[-1.0], [2.0]], np.float32), np.array([0.5], np.float32), Binary(), ("no", "yes")
    )
    why = explain("good good", model)
    assert why.predicted == ("yes",)
    assert [(r.name, r.score, r.bias) for r in why.reasons] == [("yes", 4.5, 0.5), ("no", -4.5, -0.5)]
    assert why.contrast is not None
    assert (why.contrast.name, why.contrast.against, why.contrast.score) == ("yes", "no", 4.5)
    assert explain("bad", model).predicted == ("no",)


def test_why_not_is_the_difference_of_two_classes():
    model = random_model(Words().fit(TEXTS), k=4)
    why = explain(TEXTS[0], model)
    first, second = why.reasons
    assert why.contrast.against == second.name
    assert why.contrast.score == pytest.approx(first.score - second.score)
    assert why.contrast.weights == pytest.approx(first.weights - second.weights)
    scores = model.scores([TEXTS[0]])[0]
    assert [first.name, second.name] == ["abcd"[i] for i in np.argsort(-scores)[:2]]


def test_pairs_won_by_votes_are_explained_by_their_sums():
    model = random_model(Words().fit(TEXTS), OneVsOne(), 4, seed=3)
    why = explain(TEXTS[0], model, model.classes)
    sums = model.scores([TEXTS[0]]) @ OneVsOne().readout(4)
    assert {r.name: r.score for r in why.reasons} == pytest.approx(dict(zip("abcd", sums[0], strict=True)))
    assert why.reasons[0].standing == max(reason.standing for reason in why.reasons)


def test_label_sets_have_a_reason_for_each_label_and_the_nearest_miss():
    features = Words().fit(["x y z"])
    W = np.array([[2.0, 1.0, -1.0], [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    model = Linear(features, W, np.zeros(3), MultiLabel(), ("a", "b", "c"))
    why = explain("x", model)
    assert (why.kind, why.predicted, why.contrast) == ("many", ("a", "b"), None)
    assert [reason.name for reason in why.reasons] == ["a", "b", "c"]
    assert why.flip.predicted == ()
    none = explain("y", model)
    assert (none.predicted, none.flip) == ((), None)
    assert [reason.name for reason in none.reasons] == ["a"]


def test_a_number_is_explained_without_rivals():
    model = random_model(Words().fit(TEXTS), Real(), 1)
    why = explain(TEXTS[0], model)
    assert (why.kind, why.predicted, why.contrast, why.flip) == ("number", (), None, None)
    assert why.reason().score == pytest.approx(float(model.scores([TEXTS[0]])[0, 0]))


def test_each_occurrence_has_its_share():
    model = random_model(Words().fit(["so good"]))
    (part,) = explain("so, SO so", model).reason().parts()
    assert [(spot.start, spot.end) for spot in part.spots] == [(0, 2), (4, 6), (7, 9)]
    assert [spot.contribution for spot in part.spots] == pytest.approx([part.contribution / 3] * 3)


def test_hashed_terms_of_one_column_are_named_and_share_by_their_signs():
    text = "not a good film but a long one"
    fitted = Words(terms=Hashed(2)).fit([])
    why = explain(text, random_model(fitted), search=None)
    collisions = {part.terms for part in why.collisions}
    assert collisions
    for part in why.reason().parts():
        assert part.name == " | ".join(part.terms)
        amounts = {1.0 if spot.contribution * part.weight > 0 else -1.0 for spot in part.spots}
        assert amounts <= {1.0, -1.0}
        for spot in part.spots:
            assert abs(spot.contribution) == pytest.approx(abs(part.weight))  # counts: one weight for each occurrence
            assert text[spot.start : spot.end] in part.terms
    assert why.tables[0].columns == 4
    assert why.tables[0].terms is None


def test_the_load_of_a_table_is_told_where_names_are_kept():
    block = Words(values="tfidf", length="l2", terms=Hashed(2, keep_names=True)) | Shape()
    why = explain("x", random_model(block.fit(["one two three four five six"])), search=None)
    (table,) = why.tables
    assert (table.columns, table.terms) == (4, 6)
    assert table.sharing >= 2


def test_words_of_a_list_share_by_their_weights():
    model = random_model(Lexicon({"good": 1.0, "excellent": 3.0}).fit(["x"]))
    (part,) = explain("good, excellent", model).reason().parts()
    assert [spot.contribution for spot in part.spots] == pytest.approx(
        [part.contribution / 4, part.contribution * 3 / 4]
    )


def test_weights_of_a_list_that_cancel_nearly_do_no_harm():
    block = Lexicon({"one": 0.1, "two": 0.2, "three": -0.3})
    for values in (block, Conjunction(block, block)):
        why = explain("one two three one two", random_model(values.fit(["one two three"])), search=None)
        check_sums(why)
        assert np.isfinite(why.reason().characters()).all()


def test_pairs_stand_at_both_members_and_name_hashed_terms():
    block = Words(terms=Hashed(1, signed=False)) * Lexicon({"good": 1.0})
    why = explain("very very good film", random_model(block.fit(["very good film", "x y z"])), search=None)
    check_sums(why)
    terms = {term for part in why.reason().parts() for term in part.terms}
    assert terms <= {f"{word} & lexicon" for word in ("very", "good", "film")}
    half = sum(s.contribution for p in why.reason().parts() for s in p.spots if (s.start, s.end) == (10, 14))
    assert abs(half) > 0


def test_what_is_not_in_the_text_stands_apart():
    columns = {"price": pa.array(["3"]), "country": pa.array(["se"])}
    row = Batch(pa.array(["good film"]), columns=columns)
    block = Words() | Columns(numeric=("price",), categorical=("country",)) | Shape()
    train = Batch(
        pa.array(["good", "film"]), columns={"price": pa.array(["1", "2"]), "country": pa.array(["se", "fi"])}
    )
    why = explain(row, random_model(block.fit(train)))
    check_sums(why)
    apart = {part.name for part in why.reason().parts() if not part.spots}
    assert apart == {"price", "country=se", "log words", "log characters"}
    assert why.reason().unplaced == pytest.approx(
        sum(part.contribution for part in why.reason().parts() if not part.spots)
    )


def test_a_row_without_text():
    entries = pa.list_(pa.struct([("index", pa.int32()), ("value", pa.float32())]))
    row = Batch(features=pa.array([[{"index": 1, "value": 2.0}]], entries))
    why = explain(row, random_model(Ready(3).fit(row)))
    assert (why.text, why.flip) == ("", None)
    check_sums(why)
    str(why), why.to_html(), why.to_json()


def test_the_gap_of_a_skip_gram_is_part_of_its_place():
    model = random_model(Skips(1).fit(["not very good"]))
    (part,) = explain("not very good", model).reason().parts()
    assert [(spot.start, spot.end) for spot in part.spots] == [(0, 13)]


def test_white_space_is_not_painted():
    model = random_model(Words(ngrams=(2, 2)).fit(["not good"]))
    amounts = explain("not  good", model).reason().characters()
    assert np.flatnonzero(amounts == 0).tolist() == [3, 4]
    assert np.ptp(amounts[amounts != 0]) < 1e-12


def test_classes_of_an_own_decision():
    model = random_model(Words().fit(TEXTS), k=4)
    scores = model.scores([TEXTS[0]])[0]
    worst = int(scores.argmin())
    why = explain(TEXTS[0], model, decide=lambda S, _: S.argmin(axis=1))
    assert why.predicted == ("abcd"[worst],)
    assert why.reasons[1].name == "abcd"[int(scores.argmax())]
    abstained = explain(TEXTS[0], model, decide=lambda S, _: np.full(len(S), -1))
    assert (abstained.predicted, abstained.flip) == ((), None)
    assert [reason.name for reason in abstained.reasons] == ["abcd"[i] for i in np.argsort(-scores)[:2]]


def test_neighbors_are_put_in_as_they_come():
    near = Neighbor("alike", "a", 0.9, 7)
    why = explain("x", random_model(Words().fit(["x"])), near=lambda row: [near])
    assert why.neighbors == (near,)
    assert "alike" in str(why)
    assert "alike" in why.to_html()


@pytest.mark.parametrize("row", [Batch(pa.array(["a", "b"])), Batch(pa.array([], pa.string()))])
def test_one_row_at_a_time(row):
    with pytest.raises(UsageError, match="one row"):
        explain(row, random_model(Words().fit(["a"])))


def test_what_cannot_be_explained():
    model = random_model(Words().fit(["a"]))
    with pytest.raises(InputTypeError, match="one text"):
        explain(["a"], model)
    with pytest.raises(InputTypeError, match="several"):
        explain("a", model, "abc")
    with pytest.raises(UsageError, match="no class 'z'"):
        explain("a", model, ["z"])
    with pytest.raises(UsageError, match="request it with explain"):
        explain("a", model).reason("z")
    with pytest.raises(DataError, match="surrogate"):
        explain("a \ud800", model)


def test_weights_must_fit():
    features = Words().fit(["a b"])
    with pytest.raises(UsageError, match="need"):
        Linear(features, np.zeros((3, 2)), np.zeros(2), Multiclass(), ("a", "b"))
    with pytest.raises(UsageError, match="each of them once"):
        Linear(features, np.zeros((2, 2)), np.zeros(2), Multiclass(), ("a", "a"))


def test_half_precision_weights_are_read_as_they_are():
    features = Words().fit(TEXTS)
    model = random_model(features)
    small = Linear(features, model.W.astype(np.float16), model.b, model.space, model.classes)
    check_sums(explain(TEXTS[0], small))
