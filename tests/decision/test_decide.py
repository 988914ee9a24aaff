"""The decision as a whole: predictions, abstentions, scope, states."""

import json

import numpy as np
import pytest
from tests.decision.worlds import world

from linnaeus.decision import (
    ABSTENTIONS,
    CALIBRATORS,
    AtRecall,
    BestF1,
    Confidence,
    Coverage,
    Decision,
    FittedDecision,
    InScope,
    Isotonic,
    Margin,
    as_abstention,
)
from linnaeus.decision.abstention import abstention_text
from linnaeus.decision.fitted import FittedScope, learn_scope
from linnaeus.errors import InputTypeError, ModelFileError, UsageError
from linnaeus.types import State

KINDS = ["binary", "classes", "labels"]
kinds = pytest.mark.parametrize("kind", KINDS)


@kinds
def test_without_more_ado_the_largest_score_wins(kind):
    S, truth = world(kind)
    found = Decision("temperature", "half" if kind == "labels" else None).learn(S, truth).decide(S)
    if kind == "labels":
        members = np.zeros(S.shape, bool)
        members[np.repeat(np.arange(400), np.diff(found.sets.offsets)), found.sets.labels] = True
        np.testing.assert_array_equal(members, S >= 0)
        assert found.labels is None
        return
    wanted = (S[:, 0] > 0).astype(int) if kind == "binary" else S.argmax(axis=1)
    np.testing.assert_array_equal(found.labels, wanted)
    assert found.sets is None
    assert not found.abstained.any()


def test_scores_that_differ_in_the_last_bit_are_told_apart():
    S, y = world("classes")
    fitted = Decision().learn(S, y)
    assert fitted.decide([[1.0, np.nextafter(1.0, 2.0), 0.0, 0.0]]).labels.tolist() == [1]
    assert fitted.decide([[0.5, 0.5, 0.0, 0.5]]).labels.tolist() == [0]


def test_expected_costs_decide():
    S, y = world("binary")
    costs = [[0, 10], [1, 0]]  # a missed second class costs ten times a false alarm
    plain, careful = Decision().learn(S, y), Decision(costs=costs).learn(S, y)
    P = careful.probabilities(S)
    np.testing.assert_array_equal(careful.decide(S).labels, (P[:, 1] * 10 > P[:, 0]).astype(int))
    assert careful.decide(S).labels.sum() > plain.decide(S).labels.sum()


def test_a_threshold_for_two_classes():
    S, y = world("binary", n=3000)
    fitted = Decision(thresholds=AtRecall(0.95)).learn(S, y)
    assert fitted.decide(S).labels[y == 1].mean() == pytest.approx(0.95, abs=0.01)


def test_abstaining_by_confidence_and_margin():
    S, y = world("classes", n=2000)
    fitted = Decision(abstain="confidence=0.7").learn(S, y)
    P, labels = fitted.probabilities(S), fitted.decide(S).labels
    np.testing.assert_array_equal(labels >= 0, P.max(axis=1) >= 0.7)
    answered = labels >= 0
    assert (labels == y)[answered].mean() > (S.argmax(axis=1) == y).mean() + 0.1
    two = np.sort(P, axis=1)[:, -2:]
    np.testing.assert_array_equal(fitted.decide(S, "margin=0.4").abstained, two[:, 1] - two[:, 0] < 0.4)


def test_abstaining_by_coverage():
    S, y = world("classes", n=2000)
    found = Decision().learn(S, y).decide(S, Coverage(0.8))
    sizes = np.diff(found.sets.offsets)
    rows = np.repeat(np.arange(2000), sizes)
    hit = np.zeros(2000, bool)
    hit[rows[y[rows] == found.sets.labels]] = True
    assert np.mean(hit) == pytest.approx(0.8, abs=0.005)
    np.testing.assert_array_equal(found.abstained, sizes == 0)


@kinds
def test_out_of_scope_scores_are_shares_of_training_rows(kind):
    S, truth = world(kind, n=1000)
    fitted = Decision().learn(S, truth)
    scores = fitted.out_of_scope(S)
    assert ((scores > 0) & (scores < 1)).all()
    assert np.mean(scores <= 0.95) == pytest.approx(0.95, abs=0.005)
    found = fitted.decide(S, "scope=0.9")
    assert found.abstained.mean() == pytest.approx(0.1, abs=0.005) or kind == "labels"


@kinds
def test_less_voice_is_further_out(kind):
    S, truth = world(kind)
    fitted = Decision().learn(S, truth)
    loud = np.full((1, S.shape[1]), -1.0)
    loud[0, 0] = 5.0
    rows = np.vstack([loud * factor for factor in (1000.0, 2.0, 1.0, 0.1, 1e-3, 1e-6)])
    if kind == "labels":
        rows = np.vstack([np.full((1, 4), s) for s in (1000.0, 9.0, 5.0, 1.0, -100.0, -200.0)])
    assert (np.diff(fitted.out_of_scope(rows)) > 0).all()
    known = np.linspace(1.0, 0.0, 5)
    assert (np.diff(fitted.out_of_scope(np.repeat(loud, 5, axis=0), known)) > 0).all()


def test_a_score_between_two_classes_is_in_scope_and_one_that_no_word_moved_is_not():
    """The intercept leans to the larger class: a text without features scores -0.8, one with words of both near 0."""
    rng = np.random.default_rng(0)
    S = np.concatenate([rng.normal(-1.2, 0.2, 870), rng.normal(1.1, 0.4, 130)]).reshape(-1, 1)
    y = np.repeat([0, 1], [870, 130])
    fitted = Decision().learn(S, y, blank=-0.8)
    both, nothing = fitted.out_of_scope([[0.08], [-0.8]])
    assert both < 0.5 < 0.95 < nothing
    again = FittedDecision.from_state(fitted.state())
    np.testing.assert_array_equal(again.out_of_scope(S), fitted.out_of_scope(S))


@kinds
def test_scope_of_extreme_scores_is_finite(kind):
    S, truth = world(kind)
    for scale in (1e-300, 1e299):
        fitted = Decision().learn(S * scale, truth)
        rows = np.array([[1.7e308], [-1.7e308], [0.0], [5e-324]]) * np.ones(S.shape[1])
        assert np.isfinite(fitted.out_of_scope(rows)).all()


def test_label_sets_have_at_least_so_many():
    S, truth = world("labels", k=6)
    sizes = np.diff(Decision(least=2).learn(S - 5.0, truth).decide(S - 30.0).sets.offsets)
    assert (sizes == 2).all()


def test_label_sets_out_of_scope_are_empty():
    S, truth = world("labels")
    fitted = Decision(least=1).learn(S, truth)
    sizes = np.diff(fitted.decide(S, InScope(0.9)).sets.offsets)
    np.testing.assert_array_equal(sizes == 0, fitted.out_of_scope(S) > 0.9)
    with pytest.raises(UsageError, match="can only be scope"):
        fitted.decide(S, "confidence=0.9")


RECIPES = [
    *(Decision(calibration=name) for name in CALIBRATORS),
    Decision(calibration=Isotonic(), abstain=Margin(0.25), least=1),
]


@pytest.mark.parametrize("recipe", RECIPES, ids=str)
@kinds
def test_state_round_trip(recipe, kind):
    S, truth = world(kind)
    fitted = recipe.learn(S, truth)
    state = fitted.state()
    json.dumps(state.manifest, allow_nan=False)
    again = FittedDecision.from_state(State(json.loads(json.dumps(state.manifest)), state.tensors))
    np.testing.assert_array_equal(again.probabilities(S), fitted.probabilities(S))
    np.testing.assert_array_equal(again.out_of_scope(S), fitted.out_of_scope(S))
    assert again.rules == fitted.rules
    rule = "scope=0.5" if kind == "labels" else "coverage=0.8"
    for one, other in zip(_plain(fitted.decide(S, rule)), _plain(again.decide(S, rule)), strict=True):
        np.testing.assert_array_equal(one, other)


def _plain(found):
    labels = np.zeros(0) if found.labels is None else found.labels
    return labels, found.sets.offsets, found.sets.labels


def test_costs_and_thresholds_round_trip():
    S, y = world("binary")
    for recipe in (Decision(costs=[[0, 3], [1, 0]]), Decision(thresholds=BestF1())):
        fitted = recipe.learn(S, y)
        again = FittedDecision.from_state(fitted.state())
        assert again.rules == fitted.rules
        np.testing.assert_array_equal(again.decide(S).labels, fitted.decide(S).labels)


def test_one_row_is_decided_as_among_many():
    S, y = world("classes", k=37)
    fitted = Decision().learn(S, y)
    scores = fitted.out_of_scope(S)
    for i in range(0, 400, 29):
        assert fitted.out_of_scope(S[i : i + 1])[0] == scores[i]


@pytest.mark.parametrize("name", ABSTENTIONS)
def test_abstentions_are_read_from_text(name):
    piece = as_abstention(f"{name}=0.85")
    assert piece == ABSTENTIONS[name](0.85)
    assert as_abstention(abstention_text(piece)) == piece
    assert as_abstention(name) == ABSTENTIONS[name]()
    assert as_abstention(piece) is piece


def test_bad_input_is_a_sentence():
    with pytest.raises(UsageError, match="use one of confidence, margin, coverage, scope"):
        as_abstention("doubt=3")
    with pytest.raises(UsageError, match="no number after"):
        as_abstention("confidence=high")
    with pytest.raises(UsageError, match="coverage must lie between 0 and 1, not 90"):
        as_abstention("coverage=90")
    with pytest.raises(InputTypeError, match=r"such as 'confidence=0\.8'"):
        as_abstention(0.8)
    with pytest.raises(UsageError, match="calibration takes one of none, temperature"):
        Decision(calibration="magic")
    with pytest.raises(InputTypeError, match="by name or as an object"):
        Decision(calibration=Confidence())
    with pytest.raises(UsageError, match="not both"):
        Decision(costs=[[0, 1], [1, 0]], thresholds="f1")
    with pytest.raises(UsageError, match="costs is for 3 classes"):
        Decision(costs=1 - np.eye(3)).learn(*world("binary"))
    with pytest.raises(UsageError, match="more classes use costs"):
        Decision(thresholds="f1").learn(*world("classes"))
    with pytest.raises(UsageError, match="one share between 0 and 1"):
        Decision().learn(*world("classes"), known=np.full(400, 2.0))


def _without(manifest, number):
    return {**manifest, "blocks": [block for i, block in enumerate(manifest["blocks"]) if i != number]}


HOSTILE = [
    lambda m: {**m, "abstain": "doubt=3"},
    lambda m: {**m, "abstain": 7},
    lambda m: {**m, "least": "one"},
    lambda m: {**m, "blocks": 3},
    lambda m: {**m, "blocks": [{"kind": "magic"}]},
    lambda m: _without(m, 0),
    lambda m: {**m, "blocks": [{**m["blocks"][0], "scores": "labels"}, *m["blocks"][1:]]},
]


@pytest.mark.parametrize("change", HOSTILE)
def test_hostile_states_are_refused(change):
    state = Decision().learn(*world("classes")).state()
    with pytest.raises(ModelFileError):
        FittedDecision.from_state(State(change(state.manifest), state.tensors))


@pytest.mark.parametrize("costs", [np.zeros(5), np.array([0.0, np.nan, 1.0, 0.0]), np.zeros(0), np.zeros((2, 2))])
def test_hostile_costs_are_refused(costs):
    state = Decision(costs=[[0, 1], [1, 0]]).learn(*world("binary")).state()
    with pytest.raises(ModelFileError):
        FittedDecision.from_state(State(state.manifest, {**state.tensors, "costs": costs}))


@pytest.mark.parametrize(
    ("name", "value"),
    [("louder", np.array([0.5])), ("voices", np.array([2.0, 1.0])), ("voices", np.zeros(0)), ("louder", np.ones(2))],
)
def test_hostile_scopes_are_refused(name, value):
    state = learn_scope("binary", [[1.0], [2.0]]).state()
    with pytest.raises(ModelFileError):
        FittedScope.from_state(State(state.manifest, {**state.tensors, name: value}))


@pytest.mark.parametrize("blank", [float("nan"), float("inf"), None, "0.5", [0.5], True])
def test_hostile_scores_of_blank_texts_are_refused(blank):
    state = learn_scope("binary", [[1.0], [2.0]]).state()
    with pytest.raises(ModelFileError):
        FittedScope.from_state(State({**state.manifest, "blank": blank}, state.tensors))


def test_scopes_of_older_files_have_no_score_of_blank_texts():
    state = learn_scope("binary", [[1.0], [2.0]], blank=0.5).state()
    older = {name: value for name, value in state.manifest.items() if name != "blank"}
    assert FittedScope.from_state(State(older, state.tensors)).blank == 0.0


def test_without_held_out_rows_nothing_is_learned_and_what_needs_it_is_refused():
    found = Decision().untaught("classes", 3)
    again = FittedDecision.from_state(found.state())
    S = np.array([[1.0, 0.0, -1.0]])
    assert again.decide(S).labels.tolist() == [0]
    assert again.probabilities(S).tolist() == found.probabilities(S).tolist()
    for ask in (
        lambda: found.out_of_scope(S),
        lambda: found.decide(S, "coverage=0.9"),
        lambda: found.decide(S, "scope"),
    ):
        with pytest.raises(UsageError):
            ask()
    assert Decision().untaught("labels", 2).decide([[1.0, -1.0]]).sets.labels.tolist() == [0]
    for given in (Decision(abstain="coverage"), Decision(thresholds="f1"), Decision(costs=[[0, 1], [1, 0]])):
        with pytest.raises(UsageError):
            given.untaught("classes", 3)
