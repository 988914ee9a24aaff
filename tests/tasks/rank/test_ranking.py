"""Rankers: they learn, choose, explain, say none of these, and survive a file; fixed candidates are classes."""

from __future__ import annotations

import numpy as np
import pytest

import linnaeus
from linnaeus import Model, Rank, Recipe
from linnaeus.data.groups import Groups
from linnaeus.erm import Objective, Stop, Watch, train
from linnaeus.errors import DataError, InputTypeError, LinnaeusError, MissingFunctionError, UsageError
from linnaeus.estimators.ranker import CandidateClassifier, Ranker
from linnaeus.features import Columns, Words
from linnaeus.features.pairs import Crossed, Match, Measured, Nothing, PairFunction
from linnaeus.learners.linear.learner import Linear
from linnaeus.losses import LOSSES
from linnaeus.optimizers import LBFGS
from linnaeus.outputs import Candidates, Multiclass
from linnaeus.recipes.cookbook import RECIPES, recipe
from linnaeus.recipes.tuning import Tuning
from linnaeus.regularizers import L2
from linnaeus.store import load
from linnaeus.types import Choices

CLASSES = ["fruit", "metal", "tree"]
TEXTS = ["apple pear", "iron zinc", "oak elm", "plum apple", "zinc lead", "elm ash", "pear iron", "oak plum pear"]
LABELS = [0, 1, 2, 0, 1, 2, 1, 2]
FIXED = Groups.from_lists(TEXTS, [CLASSES] * len(TEXTS), LABELS)
BLOCKS = Crossed(Words(), Columns(categorical=("candidate",)))
NAMES = Groups.from_lists(
    ["Rome", "Paris", "Bern", "Oslo"],
    [["Rome city", "Paris city"], ["Rome city", "Paris city"], ["Bern city", "Rome city"], ["Rome city", "Bern city"]],
    [0, 1, 0, None],
)


@pytest.mark.parametrize("loss", ["log", "softmargin"])
def test_fixed_candidates_are_multiclass_classification(loss):
    model = Recipe(task="rank", features=BLOCKS, learner=Linear(loss=loss, regularizer=L2(0.1), tol=1e-15)).fit(FIXED)
    X = Words().fit(TEXTS).rows(TEXTS)
    ones = np.ones(len(TEXTS))
    objective = Objective(X, np.array(LABELS), Multiclass(), LOSSES[loss](), L2(0.1), ones, 3, "none")
    W = train(objective, LBFGS(), Watch(Stop(epochs=1000, tol=1e-15))).params["W"]
    s = model.scores(FIXED)
    assert np.abs(s.reshape(-1, 3) - X.dot(W)).max() < 1e-6


def test_worked_examples_4_and_11_blocks_of_weights():
    features = BLOCKS.fit(Groups.from_lists(["drug patients baseball"], [["Health", "Sports", "Science"]], [0]))
    # Columns by name: baseball, drug, patients; candidates by name: Health, Science, Sports, unknown.
    by_label = {"Health": [2.1, 2.3, -5.0], "Sports": [-2.1, -3.8, 0.0], "Science": [1.1, -1.7, -1.3]}
    w = np.array([by_label[c][i] for c in ("Health", "Science", "Sports") for i in (2, 0, 1)] + [0.0] * 3)
    asked = Groups.from_lists(["drug patients"], [["Health", "Sports", "Science"]])
    assert features.scores(asked, w) == pytest.approx([4.4, -5.9, -0.6])
    assert features.rows(asked).dot(w) == pytest.approx([4.4, -5.9, -0.6], abs=1e-6)


def test_worked_examples_12_and_13_softmax_and_its_step():
    S = np.array([[2.2], [3.1], [-0.6]])
    y = Choices(np.array([0, 3]), np.array([True, False, False]))
    assert Candidates().soft(S, y).parts[:, 0] == pytest.approx([0.284, 0.699, 0.017], abs=5e-4)
    _, G = LOSSES["log"]().value_and_grad(Candidates(), S, y)
    assert -G[:, 0] == pytest.approx([0.716, -0.699, -0.017], abs=5e-4)


def test_worked_example_14_the_most_violated_candidate():
    S = np.array([[2.4], [1.3], [0.0]])
    y = Choices(np.array([0, 3]), np.array([True, False, False]), np.array([0.0, 3.0, 1.0]))
    value, G = LOSSES["hinge"]().value_and_grad(Candidates(), S, y)
    assert value == pytest.approx([1.9])
    assert G[:, 0].tolist() == [-1.0, 1.0, 0.0]
    _, still = LOSSES["perceptron"]().value_and_grad(Candidates(), S, y)
    assert not still.any()


@pytest.mark.parametrize("loss", ["log", "softmargin", "hinge", "perceptron"])
def test_every_structured_loss_learns(loss):
    model = Recipe(task="rank", features=BLOCKS, learner=Linear(loss=loss, regularizer=L2(0.01))).fit(FIXED)
    assert model.evaluate(FIXED).value() == 1.0


def test_unseen_candidates_are_scored_by_weights_that_all_share():
    model = Recipe(task="rank", features=Measured((Match(),)), learner=Linear(regularizer=L2(0.01))).fit(
        NAMES.take([0, 1, 2])
    )
    assert model.predict([{"text": "Cairo", "candidates": ["Lima city", "Cairo city"]}]) == ["Cairo city"]


def test_none_of_these():
    pairs = Measured((Match(), Nothing()))
    model = Recipe(task=Rank(none="option"), features=pairs, learner=Linear(regularizer=L2(0.01))).fit(NAMES)
    assert model.predict(NAMES) == ["Rome city", "Paris city", "Bern city", None]
    assert model.task.choices(model, model.task.material(NAMES)).tolist() == [0, 1, 0, -1]
    assert model.evaluate(NAMES).value() == 1.0
    asked = [{"text": "Cairo", "candidates": []}, {"text": "Kyiv", "candidates": ["Lima city"]}]
    assert model.predict(asked) == [None, None]
    assert model.rank(asked)[0] == [(None, 1.0)]


def test_an_example_without_candidates_has_no_answer():
    model = Recipe(task="rank", features=Measured((Match(),))).fit(NAMES)
    asked = [{"text": "Cairo", "candidates": []}, {"text": "Rome", "candidates": ["Rome city"]}]
    assert model.predict(asked) == [None, "Rome city"]
    assert model.predict([{"text": "Cairo", "candidates": ["a"]}][:0] or Groups.from_lists(["x"], [[]])) == [None]
    nothing = model.explain(asked, 0)
    assert (nothing.predicted, nothing.lead.parts()) == ((), ())
    assert "no prediction" in str(nothing)


def test_costs_move_the_choice_of_training():
    groups = Groups.from_lists(["a b", "a c"] * 4, [["x", "y", "z"]] * 8, [0, 1] * 4)
    dear = Groups(groups.offsets, groups.text, groups.candidates, groups.gold, costs=np.tile([1.0, 1.0, 9.0], 8))
    plain, paid = (
        Recipe(task="rank", features=BLOCKS, learner=Linear(loss="softmargin", regularizer=L2(1.0))).fit(one)
        for one in (groups, dear)
    )
    z = lambda model: model.probabilities(groups).reshape(-1, 3)[:, 2].mean()  # noqa: E731
    assert z(paid) < z(plain)


def test_it_explains_the_chosen_one_against_the_runner_up():
    model = Recipe(task="rank", features=BLOCKS, learner=Linear(regularizer=L2(0.1))).fit(FIXED)
    found = model.explain(FIXED, 1)
    first, second = found.reasons
    parts = found.contrast.parts()
    assert found.predicted == ("metal",)
    assert sum(part.contribution for part in parts) == pytest.approx(first.score - second.score)
    for reason in (first, second):
        assert sum(part.contribution for part in reason.parts()) == pytest.approx(reason.score)
    assert {part.name for part in parts[:2]} <= {f"candidate={c} & {w}" for c in CLASSES for w in ("iron", "zinc")}
    assert found.to_json()["contrast"]["against"] == second.name
    assert f"Why metal, not {second.name}" in str(found)
    assert f"Why metal, not {second.name}" in found.to_html()
    with pytest.raises(UsageError, match="numbered from 0 to 7"):
        model.explain(FIXED, 8)


def test_a_file_holds_all_of_it(tmp_path):
    recipe = Recipe(task=Rank(none="option"), features=Measured((Match(), Nothing())) | BLOCKS)
    model = recipe.fit(NAMES)
    model.save(tmp_path / "a.lin")
    again = Model.load(tmp_path / "a.lin")
    again.save(tmp_path / "b.lin")
    assert (tmp_path / "a.lin").read_bytes() == (tmp_path / "b.lin").read_bytes()
    assert again.recipe == recipe
    assert again.facts == model.facts
    assert np.array_equal(again.scores(NAMES), model.scores(NAMES))
    assert load(tmp_path / "a.lin").manifest["task"]["kind"] == "rank"


def test_functions_are_named_in_a_file_and_passed_in_again(tmp_path):
    def length(text, candidate):
        return float(len(candidate) > len(text))

    model = Recipe(task="rank", features=Measured((Match(), PairFunction(length)))).fit(NAMES)
    model.save(tmp_path / "a.lin")
    with pytest.raises(MissingFunctionError, match=r"needs the function 'length'; pass it in: functions=\{'length'"):
        linnaeus.load(tmp_path / "a.lin")
    again = linnaeus.load(tmp_path / "a.lin", functions={"length": length})
    assert np.array_equal(again.scores(NAMES), model.scores(NAMES))
    assert again.recipe == model.recipe


@pytest.mark.parametrize("tensor", ["params.W", "features.scale", "features.1.0.columns", "features.0.scale"])
def test_damaged_files_are_refused(tmp_path, tensor):
    from linnaeus.model.file import model_of, state_of
    from linnaeus.types import State

    state = state_of(Recipe(task="rank", features=Measured((Match(),)) | BLOCKS).fit(NAMES))
    for other in (None, np.zeros(3, np.float32), np.full(999, np.nan)):
        tensors = {name: value for name, value in state.tensors.items() if name != tensor}
        if other is not None:
            tensors[tensor] = other
        if tensor not in state.tensors:
            continue
        with pytest.raises(LinnaeusError):
            model_of(State(state.manifest, tensors))
    with pytest.raises(LinnaeusError):
        _ = model_of(State({**state.manifest, "recipe": {"pairs": 3}}, state.tensors)).recipe
    with pytest.raises(LinnaeusError):
        model_of(State({"kind": "classifier"}, {}))


def test_strengths_are_chosen_on_held_out_groups():
    recipe = Recipe(task="rank", features=BLOCKS, tuning=Tuning(strengths=(100.0, 0.1), folds=4))
    model = recipe.fit(Groups.from_lists(TEXTS * 3, [CLASSES] * 24, LABELS * 3))
    assert model.facts["strength"] == 100.0
    assert model.facts["held_out"] == 24
    assert model.evaluation.value() == 1.0
    assert [strength for strength, _ in model.facts["tried"]] == [100.0, 0.1]


def test_the_same_bits_for_any_number_of_threads():
    from linnaeus import threads

    found = []
    for count in (1, 3):
        with threads(count):
            model = recipe("plain").changed({"tuning": None}).fit(NAMES)
            found.append((model.params["W"].tobytes(), model.scores(NAMES).tobytes()))
    assert found[0] == found[1]


@pytest.mark.parametrize("name", [name for name, row in RECIPES.items() if row.task == "rank"])
def test_recipes_survive_json(name):
    found = recipe(name)
    assert Recipe.from_json(found.to_json()) == found
    name = "regularizer.strength" if isinstance(found.learner, Linear) else "decay"
    assert found.changed({name: 2.0, "none": "option"}).learner.strength == 2.0


def test_faces_of_scikit_learn():
    from sklearn.base import clone

    X = [{"text": text, "candidates": CLASSES} for text in TEXTS]
    recipe = Recipe(task="rank", features=BLOCKS, learner=Linear(regularizer=L2(0.01)))
    face = clone(CandidateClassifier(recipe)).fit(X, LABELS)
    assert face.predict(X) == [CLASSES[label] for label in LABELS]
    assert face.score(X, LABELS) == 1.0
    ranker = Ranker(recipe).fit(X, [CLASSES[label] for label in LABELS])
    assert [row[0] for row in ranker.predict(X)] == face.predict(X)
    assert ranker.score(X, LABELS) == 1.0
    with pytest.raises(UsageError, match="no recipe 'nope'"):
        Ranker("nope").fit(X, LABELS)


def test_what_cannot_be_learned_from_is_said():
    with pytest.raises(DataError, match="No example has a right candidate"):
        Recipe(task="rank").fit(Groups.from_lists(["x"], [["a"]], [None]))
    with pytest.raises(DataError, match="no answers"):
        Recipe(task="rank").fit(Groups.from_lists(["x"], [["a"]]))
    with pytest.raises(UsageError, match="take the losses"):
        Recipe(task="rank", learner=Linear(loss="squared_hinge"))
    with pytest.raises(InputTypeError, match="pair features"):
        Recipe(task="rank", features=Words())
    with pytest.raises(UsageError, match="none is one of"):
        Recipe(task=Rank(none="perhaps"))
