"""Networks that tag: gradients, the same scores without PyTorch, the same bits, reasons, and damaged files."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from tests.tasks.tag.sentences import entities, tagged

from linnaeus import Model, Recipe, Tag
from linnaeus.arrays import CSR
from linnaeus.arrays.word_table import WordTable
from linnaeus.data.sentences import Sentences
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.learners.networks import TagNetwork
from linnaeus.learners.networks.fitted_tagger import FittedTagNetwork
from linnaeus.learners.networks.operations import NUMPY
from linnaeus.learners.networks.structures import begin, tag_job
from linnaeus.learners.networks.tokens import LINKS, neighbors
from linnaeus.learners.run import Run
from linnaeus.losses import LOSSES
from linnaeus.outputs import Sequence
from linnaeus.recipes.cookbook import recipe
from linnaeus.recipes.tagging import token_templates
from linnaeus.store.parts import PartsFile
from linnaeus.types import GroupedLesson, State, Tags

torch = pytest.importorskip("torch")

K = 3
SMALL = TagNetwork(width=5, layers=2, dropout=0.2, epochs=3, batch=4, held_out=0.4, patience=3, rate=0.02)
COSTS = ((0.0, 2.0, 1.0), (0.5, 0.0, 1.0), (3.0, 1.0, 0.0))


def lesson(sizes=(3, 0, 1, 4, 2, 3, 1, 5, 2, 3, 4, 2, 3, 3), d=7, run=None):
    rng = np.random.default_rng(3)
    m = sum(sizes)
    counts = rng.integers(0, 4, m)
    columns = [np.sort(rng.choice(d, count, replace=False)) for count in counts]
    X = CSR(
        np.concatenate([[0], np.cumsum(counts)]),
        np.concatenate(columns).astype(np.int32),
        np.ones(int(counts.sum()), np.float32),
        d,
    )
    y = Tags(np.concatenate([[0], np.cumsum(sizes)]), rng.integers(0, K, m).astype(np.int32))
    return GroupedLesson(X, y, K, 0, run=run)


def random_weights(form, seed=0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    return {name: rng.normal(0, 0.5, shape).astype(dtype) for name, shape in form.shapes().items()}


def torch_gradient(job, weights, rows):
    """The loss of some sentences, and its gradient in all weights, as a step of training takes it."""
    from linnaeus.neural.operations import TorchOperations

    params = {name: torch.tensor(part, requires_grad=True) for name, part in weights.items()}
    batch = {name: torch.from_numpy(part) for name, part in job.batch(rows).items()}
    S = job.forward(TorchOperations(), params, batch)
    value, D = job.loss(S.detach().numpy(), rows)
    S.backward(torch.from_numpy(D))
    return value, {name: part.grad.numpy() for name, part in params.items()}


@pytest.mark.parametrize(
    ("loss", "costs"), [("log", None), ("softmargin", COSTS), ("hinge", COSTS), ("perceptron", None)]
)
def test_the_gradient_of_the_whole_loss_is_that_of_finite_differences(loss, costs):
    given, plan = lesson(), TagNetwork(width=4, layers=2, activation="tanh", loss=loss, costs=costs)
    form, rows = plan.form(given), np.array([0, 1, 3, 4])
    job = tag_job(plan, form, Sequence(plan.costs), given)
    weights = random_weights(form)
    value, grads = torch_gradient(job, weights, rows)

    def loss_at(name, part):
        S = form.forward(NUMPY, {**weights, name: part}, job.batch(rows))
        return job.loss(S, rows)[0]

    assert value == pytest.approx(loss_at(LINKS, weights[LINKS]))
    step, rng = 1e-6, np.random.default_rng(1)
    for name, part in weights.items():
        for _ in range(4):
            toward = rng.normal(size=part.shape)
            slope = (loss_at(name, part + step * toward) - loss_at(name, part - step * toward)) / (2 * step)
            assert slope == pytest.approx(float((grads[name] * toward).sum()), rel=1e-5, abs=1e-6), name


def test_numpy_scores_are_those_of_torch():
    from linnaeus.neural.operations import TorchOperations

    given = lesson()
    form = SMALL.form(given)
    job = tag_job(SMALL, form, Sequence(), given)
    weights, batch = random_weights(form, dtype=np.float32), job.batch(np.arange(14))
    theirs = form.forward(
        TorchOperations(),
        {name: torch.from_numpy(part) for name, part in weights.items()},
        {name: torch.from_numpy(part) for name, part in batch.items()},
    )
    np.testing.assert_allclose(form.forward(NUMPY, weights, batch), theirs.numpy(), atol=1e-5)


def test_a_tagging_scores_as_the_space_says():
    """The scores of a sentence are emissions and transitions of a linear chain, whichever network they come from."""
    given = lesson()
    fitted = SMALL.learn_tags(given)
    E = fitted.token_scores(given.X, given.y.offsets)
    S = np.concatenate([E, fitted.weights[LINKS]]).astype(np.float64)
    best = fitted.transitions.decode(E, given.y.offsets)
    values = Sequence().best(S, given.y).value
    np.testing.assert_allclose(Sequence().gold(S, Tags(given.y.offsets, best)).value, values, rtol=1e-5)


def test_neighbors_stay_within_a_sentence():
    assert neighbors(np.array([0, 0, 2, 3]), 5).tolist() == [[0, 0, 1, 2, 0], [0, 1, 2, 0, 0], [0, 0, 3, 0, 0]]
    given = lesson()
    form = SMALL.form(given)
    fitted = FittedTagNetwork(form, random_weights(form, dtype=np.float32), {})
    E = fitted.token_scores(given.X, given.y.offsets)
    for i in range(len(given.y)):
        first, end = given.y.offsets[i : i + 2].tolist()
        alone = fitted.token_scores(given.X.rows_slice(first, end), np.array([0, end - first]))
        assert alone.tobytes() == E[first:end].tobytes(), "a sentence has the same bits beside any others"


def test_the_same_seed_gives_the_same_bits():
    first, again, other = SMALL.learn_tags(lesson()), SMALL.learn_tags(lesson()), None
    assert all(first.weights[name].tobytes() == again.weights[name].tobytes() for name in first.weights)
    other = SMALL.learn_tags(replace(lesson(), seed=1))
    assert other.weights[LINKS].tobytes() != first.weights[LINKS].tobytes()


def test_it_goes_on_from_a_checkpoint_to_the_same_bits(tmp_path):
    place, states = PartsFile(tmp_path / "a.part", "these").part("tags"), []

    class Kept:
        def get(self):
            return None

        def put(self, state):
            states.append(State(dict(state.manifest), {name: np.array(one) for name, one in state.tensors.items()}))

    whole = SMALL.learn_tags(lesson(run=Run(kept=Kept())))
    place.put(states[0])
    found = SMALL.learn_tags(lesson(run=Run(kept=place)))
    assert all(whole.weights[name].tobytes() == found.weights[name].tobytes() for name in whole.weights)
    place.put(State(states[0].manifest, {**states[0].tensors, "flat": np.zeros(2, np.float32)}))
    with pytest.raises(ModelFileError, match="checkpoint"):
        SMALL.learn_tags(lesson(run=Run(kept=place)))


def test_epochs_are_told():
    seen = []
    SMALL.learn_tags(lesson(run=Run(seen.append)))
    assert [phase.share for phase in seen] == [1 / 3, 2 / 3, 1.0]
    assert all("held-out score" in phase.note for phase in seen)


LEARNED = TagNetwork(width=16, epochs=15, batch=4, rate=0.02)


@pytest.mark.parametrize("loss", ["log", "softmargin", "hinge", "perceptron"])
def test_every_structured_loss_learns(loss):
    model = Recipe(task="tag", features=token_templates(), learner=replace(LEARNED, loss=loss)).fit(tagged())
    assert model.evaluate(tagged(seed=1)).value("accuracy") > 0.9
    assert model.predict([["the", "fish", "run"], [], ["run"]])[:2] == [["D", "N", "V"], []]


def test_dear_mistakes_get_larger_margins():
    data = Sentences.from_lists([["x"], ["y"]] * 20, [["N"], ["V"]] * 20)
    gaps = []
    for costs in (None, ((0, 1), (9, 0))):  # to say V of an N is dear
        learner = TagNetwork(
            width=8, epochs=30, batch=8, loss="hinge", held_out=0.0, rate=0.02, dropout=0.0, costs=costs
        )
        tagger = Recipe(task="tag", features=token_templates(), learner=learner).fit(data)
        assert tagger.predict([["x"], ["y"]]) == [["N"], ["V"]]
        (n, v), start = tagger.scores([["x"]])[0], tagger.body.weights[LINKS][0]
        gaps.append(float(n + start[0] - v - start[1]))
    assert gaps[0] > 0.9
    assert gaps[1] > 8.0


@pytest.fixture(scope="module")
def model():
    return Recipe(task="tag", features=token_templates(), learner=LEARNED).fit(tagged())


def test_a_saved_model_says_the_same_without_torch(model, tmp_path):
    model.save(tmp_path / "m.lin")
    asked = [["the", "fish", "run"], ["unknown", "words"], []]
    again = Model.load(tmp_path / "m.lin")
    assert again.predict(asked) == model.predict(asked)
    assert again.scores(asked).tobytes() == model.scores(asked).tobytes()
    program = (
        "import sys; from linnaeus import Model; "
        f"print(Model.load({str(tmp_path / 'm.lin')!r}).predict([['the', 'fish', 'run']])[0], 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{model.predict(asked)[0]} False"


def test_what_every_tagger_can_answer(model):
    P = model.probabilities([["the", "fish", "run"]])
    np.testing.assert_allclose(P.sum(axis=1), 1.0)
    taggings = model.rank([["the", "fish"]], 100)[0]
    assert len(taggings) == 9
    assert taggings[0][0] == model.predict([["the", "fish"]])[0]
    assert model.facts["ending"] == "learned"


def test_reasons_are_approximate_and_say_so(model):
    why = model.explain(["the", "fish", "run"], 1)
    assert not why.exact
    assert "Approximate" in str(why)
    assert why.predicted == ("N",)
    for reason in why.reasons:
        assert reason.score == pytest.approx(reason.bias + sum(part.contribution for part in reason.parts()), abs=1e-5)
    names = {part.name for part in why.contrast.parts()}
    assert "lower[0]=fish" in names
    assert "the token at the" in names
    every = model.rank([["the", "fish", "run"]], 27)[0]
    second = next(score for tags, score in every if tags[1] != "N")
    assert why.contrast.score == pytest.approx(every[0][1] - second, abs=1e-4)


def test_an_effect_is_the_score_minus_that_without_the_feature(model):
    sentences = Sentences.from_lists([["a"], ["the", "fish", "run"]])
    effects = model.body.effects(model.features, sentences, 2)
    X = model.features.rows(sentences)
    column = next(effect.column for effect in effects if effect.name == "lower[0]=fish")
    keep = np.ones(X.nnz, bool)
    keep[X.indptr[2] + np.flatnonzero(X.indices[X.indptr[2] : X.indptr[3]] == column)] = False
    indptr = X.indptr - np.where(np.arange(len(X.indptr)) > 2, 1, 0)
    less = CSR(indptr, X.indices[keep], X.data[keep], X.width)
    offsets = sentences.offsets
    expected = model.body.token_scores(X, offsets)[2] - model.body.token_scores(less, offsets)[2]
    found = next(effect.amounts for effect in effects if effect.column == column)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    assert {effect.position for effect in effects} == {1, 2, 3}


def test_one_word_or_one_tag():
    one = Recipe(task="tag", features=token_templates(), learner=LEARNED).fit([[("a", "X")]])
    assert one.predict([["a"], ["b", "c"], []]) == [["X"], ["X", "X"], []]


def test_entities_never_break_the_rules():
    found = Recipe(task=Tag(encoding="bio"), features=token_templates(), learner=LEARNED).fit(entities())
    assert found.evaluate(entities(seed=1)).value("f1") > 0.9
    noise = np.random.default_rng(0).choice(["Anna", "sees", "x", "Rome", "in"], (50, 6)).tolist()
    for tags in found.predict(noise):
        for before, tag in zip(["O", *tags[:-1]], tags, strict=True):
            assert not tag.startswith("I-") or before[1:] == tag[1:]


def test_words_begin_with_given_vectors():
    table = WordTable(["dog", "the"], np.array([[1, 2, 3], [4, 5, 6]], np.float32))
    features = token_templates().fit(tagged())
    names = features.names()
    given = replace(lesson(), X=features.rows(tagged()), names=lambda: names)
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(features.width, 3)).astype(np.float32)
    before = rows.copy()
    begin(rows, given, table)
    changed = {names[i] for i in np.flatnonzero((rows != before).any(axis=1))}
    assert changed == {"lower[0]=dog", "lower[0]=the"}
    row = rows[list(names).index("lower[0]=dog")]
    np.testing.assert_allclose(row / row[0], [1, 2, 3], rtol=1e-6)


def test_given_vectors_have_the_width():
    table = WordTable(["dog", "the"], np.ones((2, 6), np.float32))
    learner = replace(LEARNED, vectors=table)
    found = Recipe(task="tag", features=token_templates(), learner=learner).fit(tagged())
    assert found.body.form.width == 6
    assert found.predict([["the", "dog"]]) == [["D", "N"]]


def test_it_cannot_be_updated(model):
    with pytest.raises(UsageError, match="cannot be updated"):
        model.updated(tagged(seed=2))


@pytest.mark.parametrize(
    "wrong",
    [{"window": 2}, {"width": 0}, {"layers": -1}, {"loss": "log", "costs": COSTS}, {"rate": 0.0}, {"dropout": 1.0}],
)
def test_settings_that_mean_nothing_are_refused(wrong):
    with pytest.raises(UsageError):
        TagNetwork(**wrong)


def test_costs_have_the_size_of_the_tags():
    with pytest.raises(UsageError, match="3 by 3"):
        TagNetwork(loss="hinge", costs=((0, 1), (1, 0))).learn_tags(lesson())


def test_the_recipe_is_plain_data():
    found = recipe("pos-cnn").changed({"learner.layers": 1, "learner.loss": "hinge"})
    assert Recipe.from_json(found.to_json()) == found
    assert found.learner.loss == LOSSES["hinge"]()


HOSTILE = {
    "a weight that is missing": lambda m, t: t.pop("out.b"),
    "a weight too many": lambda m, t: t.update(more=np.zeros(1, np.float32)),
    "another shape": lambda m, t: t.update({LINKS: np.zeros((2, 2), np.float32)}),
    "another type": lambda m, t: t.update({LINKS: t[LINKS].astype(np.float64)}),
    "not a number": lambda m, t: t["out.b"].fill(np.nan),
    "too large": lambda m, t: t[LINKS].fill(1e30),
    "a huge layer": lambda m, t: m["form"].update(width=1 << 40),
    "an even window": lambda m, t: m["form"].update(window=2),
    "an activation": lambda m, t: m["form"].update(activation="eval"),
    "a field too many": lambda m, t: m["form"].update(more=1),
    "no form": lambda m, t: m.pop("form"),
    "a form that is no table": lambda m, t: m.update(form=[1]),
    "facts that are no table": lambda m, t: m.update(trained=3),
}


@pytest.mark.parametrize("change", HOSTILE.values(), ids=HOSTILE)
def test_damaged_states_are_refused(change):
    form = SMALL.form(lesson())
    state = FittedTagNetwork(form, random_weights(form, dtype=np.float32), {"epochs": 1}).state()
    again = FittedTagNetwork.from_state(state)
    assert again.form == form
    manifest = {**state.manifest, "form": dict(state.manifest["form"])}
    tensors = {name: part.copy() for name, part in state.tensors.items()}
    change(manifest, tensors)
    with pytest.raises(ModelFileError):
        FittedTagNetwork.from_state(State(manifest, tensors))
