"""Evaluations batch by batch, as JSON, as pages; and what is refused."""

import json
import subprocess
import sys

import numpy as np
import pytest
from tests.evaluation.makers import label_sets, numbers, sets, single

from linnaeus.errors import DataError, ModelFileError, UsageError
from linnaeus.evaluation import Accumulator, Evaluation, Outcome, evaluate, lookup, lookup_sets, observe
from linnaeus.evaluation import facts as facts_room
from linnaeus.evaluation.pages import evaluation_page
from linnaeus.render import ASCII

MAKERS = {"single": single, "sets": sets, "numbers": numbers}
every_task = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def cut(outcome, rows):
    return Outcome(
        *(outcome.truth[rows], outcome.predicted[rows], outcome.classes),
        *(None if part is None else part[rows] for part in (outcome.probabilities, outcome.scores, outcome.weights)),
    )


def batches(outcome, size):
    n = len(outcome.truth)
    return [cut(outcome, np.arange(start, min(n, start + size))) for start in range(0, n, size)]


@every_task
@pytest.mark.parametrize("size", [1, 37, 1000])
def test_batches_change_nothing(make, size):
    outcome = make(0)
    seen = Accumulator()
    for batch in batches(outcome, size):
        seen.add(batch)
    assert len(seen) == len(outcome.truth)
    assert seen.evaluation(rounds=20) == evaluate(outcome, rounds=20)


def test_scores_are_kept_only_while_they_are_few(monkeypatch):
    monkeypatch.setattr(sys.modules["linnaeus.evaluation.evaluate"], "KEEP", 1000)
    seen, few = Accumulator(), Accumulator()
    for batch in batches(single(0, n=300, k=5), 50):
        seen.add(batch)
    few.add(batches(single(0, n=300, k=5), 50)[0])
    assert seen.facts().ranked is None
    assert few.facts().ranked is not None
    whole = evaluate(single(0, n=300, k=5), rounds=0).metrics
    got = seen.evaluation(rounds=0).metrics
    assert got == {name: value for name, value in whole.items() if name != "average_precision"}


def test_a_row_takes_few_bytes_however_many_classes(monkeypatch):
    monkeypatch.setattr(sys.modules["linnaeus.evaluation.outcome"], "KEEP", 0)
    found = observe(single(0, n=1000, k=400))
    arrays = [found.weights, *found.values.values()]
    arrays += [part for labels in (found.truth, found.predicted) for part in (labels.offsets, labels.labels)]
    assert sum(array.nbytes for array in arrays) < 100 * 1000
    assert facts_room.KEEP * 8 <= 64 << 20


@every_task
def test_json_there_and_back(make):
    found = evaluate(make(0), rounds=20)
    text = json.dumps(found.to_json(), allow_nan=False)
    assert Evaluation.from_json(json.loads(text)) == found
    brief = found.brief()
    assert Evaluation.from_json(json.loads(json.dumps(brief.to_json()))) == brief
    assert brief.confusion is None


def test_brief_evaluations_of_many_classes_are_small():
    k, n = 3000, 6000
    y = np.arange(n) % k
    found = evaluate(Outcome(y, (y + (np.arange(n) % 5 == 0)) % k, [f"class number {i}" for i in range(k)]), rounds=5)
    assert len(json.dumps(found.brief().to_json())) < 3000
    assert len(found.per_class) == k
    assert found.brief(classes=k).per_class == found.per_class
    assert len(evaluation_page(found.brief(), ASCII).plain()) < 3000


DAMAGE = [
    lambda j: [],
    lambda j: {**j, "schema": "other/1"},
    lambda j: {**j, "task": "guess"},
    lambda j: {**j, "task": ["single"]},
    lambda j: {**j, "rows": -1},
    lambda j: {**j, "rows": True},
    lambda j: {**j, "rows": 10**30},
    lambda j: {**j, "metrics": {"accuracy": "high"}},
    lambda j: {**j, "metrics": {"accuracy": float("nan")}},
    lambda j: {**j, "metrics": {"accuracy": 10**400}},
    lambda j: {**j, "metrics": None},
    lambda j: {**j, "intervals": {"accuracy": [0.1]}},
    lambda j: {**j, "per_class": j["per_class"][1:]},
    lambda j: {**j, "per_class": [{}] * 5},
    lambda j: {**j, "per_class": "abcde"},
    lambda j: {**j, "confusion": [[0, 5, 1]]},
    lambda j: {**j, "confusion": [[-2, 0, 1]]},
    lambda j: {**j, "confusion": [[0, 0]]},
    lambda j: {**j, "confusion": [[0.0, 0, 1]]},
    lambda j: {**j, "level": None},
]


@pytest.mark.parametrize("damage", DAMAGE)
def test_damaged_json_is_refused(damage):
    with pytest.raises(ModelFileError):
        Evaluation.from_json(damage(evaluate(single(0), rounds=2).to_json()))


def test_values_by_either_name():
    found = evaluate(single(0), rounds=0)
    assert found.value("macro-f1") == found.value("macro_f1")
    with pytest.raises(UsageError, match="balanced-accuracy"):
        found.value("rmse")


@every_task
def test_the_page(make):
    found = evaluate(make(0), rounds=20)
    text = str(found)
    assert "95 % interval" in text
    assert next(iter(found.metrics)) in text
    assert evaluation_page(found, ASCII, "test.csv").plain().isascii()


def test_the_page_says_what_is_odd():
    text = str(evaluate(single(0, unknown=1, abstain=2), rounds=0))
    assert "1 row has a label that the model does not know" in text
    assert "2 rows without a prediction" in text
    assert "coverage" in text


def test_the_page_of_many_classes_shows_the_worst_and_the_largest():
    y = np.repeat(np.arange(40), np.arange(1, 41))
    p = np.where(y == 7, 8, y)
    text = str(evaluate(Outcome(y, p, [f"c{i}" for i in range(40)]), rounds=0))
    places = [text.index(part) for part in ("the worst 2 of 40", "c7 ", "c8 ", "the largest 10 of 40", "c39 ")]
    assert places == sorted(places)
    assert "c7          c8            8       100 %" in text


def test_labels_of_terminals_are_made_safe():
    text = str(evaluate(Outcome([0, 1], [1, 1], ["\x1b[31mred", "b"]), rounds=0))
    assert "\x1b" not in text


def test_labels_to_indices():
    assert lookup(np.array(["b", "x", "a"]), ["a", "b"]).tolist() == [1, -1, 0]
    assert lookup([2, 1, 7], np.array([1, 2])).tolist() == [1, 0, -1]
    found = lookup_sets([["b", "x", "y"], []], ["a", "b"])
    assert found.offsets.tolist() == [0, 2, 2]
    assert found.labels.tolist() == [-1, 1]


GOOD = ([0, 1], [0, 1], "ab")
PAIR = label_sets(np.eye(2, dtype=int))


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (Outcome([], [], "ab"), "no rows"),
        (Outcome([0, 2], [0, 1], "ab"), "outside -1 to 1"),
        (Outcome([0, 1], [0, -2], "ab"), "outside -1 to 1"),
        (Outcome(["a", "b"], [0, 1], "ab"), "lookup"),
        (Outcome([0, 1], [0], "ab"), "truth has 2 rows, but predicted has 1"),
        (Outcome(*GOOD, probabilities=np.ones((2, 3))), "shape"),
        (Outcome(*GOOD, probabilities=np.full((2, 2), 2.0)), "between 0 and 1"),
        (Outcome(*GOOD, probabilities=np.full((2, 2), np.nan)), "finite"),
        (Outcome(*GOOD, scores=np.full((2, 2), np.inf)), "finite"),
        (Outcome(*GOOD, weights=[1.0]), "weights"),
        (Outcome(*GOOD, weights=[1.0, -1.0]), "not negative"),
        (Outcome(*GOOD, weights=[0.0, 0.0]), "weights of all rows are 0"),
        (Outcome([1.0, np.nan], [1.0, 1.0]), "finite"),
        (Outcome([1.0, 2.0], [[1.0, 1.0], [1.0, 1.0]]), "numbers for each row"),
        (Outcome(PAIR, label_sets(np.ones((1, 2), int)), "ab"), "2 rows"),
        (Outcome(PAIR, label_sets(np.eye(3, dtype=int)[1:]), "ab"), "outside 0 to 1"),
    ],
)
def test_data_that_do_not_fit_are_refused(wrong, said):
    with pytest.raises(DataError, match=said):
        evaluate(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        Outcome(*GOOD, costs=[[0, 1]]),
        Outcome(PAIR, [0, 1], "ab"),
        Outcome(PAIR, PAIR),
        Outcome(PAIR, PAIR, "ab", costs=np.eye(2)),
        "outcome",
    ],
)
def test_calls_that_cannot_be_meant_are_refused(wrong):
    with pytest.raises(UsageError):
        evaluate(wrong)


def test_batches_of_other_classes_are_refused():
    seen = Accumulator()
    seen.add(Outcome([0], [0], "ab"))
    seen.add(Outcome([0], [0], "abc"))
    with pytest.raises(DataError, match="differ"):
        seen.facts()
    with pytest.raises(DataError, match="no rows"):
        Accumulator().evaluation()


def test_an_evaluation_loads_nothing_heavy():
    code = (
        "import sys; from linnaeus.evaluation import Outcome, evaluate; evaluate(Outcome([0, 1], [0, 0], 'ab'))\n"
        "print({name.split('.')[0] for name in sys.modules} & {'sklearn', 'scipy', 'pyarrow', 'rich', 'click'})"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"
