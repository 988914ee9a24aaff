"""Networks that rank candidates: gradients, losses with costs, the same scores without PyTorch, reasons."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

from linnaeus import Model, Recipe
from linnaeus.arrays import CSR
from linnaeus.data.groups import Groups
from linnaeus.errors import InputTypeError, ModelFileError, UsageError
from linnaeus.features import Columns, Words
from linnaeus.features.pairs import Crossed
from linnaeus.learners.bayes import Multinomial
from linnaeus.learners.networks import FittedNetwork, RankNetwork
from linnaeus.learners.networks.architecture import Architecture, RowLayer
from linnaeus.learners.networks.operations import NUMPY
from linnaeus.learners.networks.structures import rank_job
from linnaeus.learners.run import Run
from linnaeus.recipes.cookbook import recipe
from linnaeus.store import load, save
from linnaeus.types import Choices, GroupedLesson, State

torch = pytest.importorskip("torch")

CLASSES = ["fruit", "metal", "tree"]
TEXTS = ["apple pear", "iron zinc", "oak elm", "plum apple", "zinc lead", "elm ash", "pear iron", "oak plum pear"]
LABELS = [0, 1, 2, 0, 1, 2, 1, 2]
FIXED = Groups.from_lists(TEXTS * 4, [CLASSES] * len(TEXTS) * 4, LABELS * 4)
BLOCKS = Crossed(Words(), Columns(categorical=("candidate",)))
PLAN = RankNetwork(hidden=(8,), epochs=30, batch=4, rate=0.02, held_out=0.0, dropout=0.0)


def lesson(run=None):
    rng = np.random.default_rng(3)
    sizes = np.array([3, 1, 0, 4, 2, 3])
    m = int(sizes.sum())
    X = CSR(np.arange(0, 2 * m + 1, 2), np.tile(np.array([0, 3], np.int32), m), rng.normal(size=2 * m), 5)
    offsets = np.concatenate([[0], np.cumsum(sizes)])
    gold = np.zeros(m, bool)
    gold[[1, 3, 4, 9]] = True  # the last example has no right candidate
    return GroupedLesson(X, Choices(offsets, gold, rng.uniform(0.5, 2.0, m)), 1, 0, run=run)


@pytest.mark.parametrize("loss", ["log", "softmargin", "hinge", "perceptron"])
def test_the_gradient_of_the_whole_loss_is_that_of_finite_differences(loss):
    from linnaeus.neural.operations import TorchOperations

    given, rows = lesson(), np.array([0, 1, 3, 4, 5])
    form = Architecture(RowLayer(4, "tanh"), (3,), "tanh", 5, 1)
    job, rng = rank_job(replace(PLAN, loss=loss), form, given), np.random.default_rng(0)
    weights = {name: rng.normal(0, 0.7, shape) for name, shape in form.shapes().items()}
    batch = job.batch(rows)
    params = {name: torch.tensor(part, requires_grad=True) for name, part in weights.items()}
    S = form.forward(TorchOperations(), params, {name: torch.from_numpy(part) for name, part in batch.items()})
    np.testing.assert_allclose(form.forward(NUMPY, weights, batch), S.detach().numpy(), atol=1e-9)
    _, D = job.loss(S.detach().numpy(), rows)
    S.backward(torch.from_numpy(D))

    def loss_at(name, part):
        return job.loss(form.forward(NUMPY, {**weights, name: part}, batch), rows)[0]

    step = 1e-6
    for name, part in weights.items():
        toward = rng.normal(size=part.shape)
        slope = (loss_at(name, part + step * toward) - loss_at(name, part - step * toward)) / (2 * step)
        assert slope == pytest.approx(float((params[name].grad.numpy() * toward).sum()), rel=1e-4, abs=1e-6), name


@pytest.mark.parametrize("loss", ["log", "softmargin", "hinge", "perceptron"])
def test_every_structured_loss_learns(loss):
    model = Recipe(task="rank", features=BLOCKS, learner=replace(PLAN, loss=loss)).fit(FIXED)
    assert model.evaluate(FIXED).value() == 1.0


def test_what_no_weights_of_features_can_rank():
    """The right candidate is the one of two equal signs: XOR of two features of the candidate."""
    rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]], np.float32)
    signs = np.concatenate([rows, 1 - rows], axis=1)
    X = CSR(np.arange(0, 65, 4), np.tile(np.arange(4, dtype=np.int32), 16), np.tile(signs, (4, 1)).ravel(), 4)
    pairs = np.array([0, 1, 0, 2, 3, 1, 3, 2])
    X = X.take(np.tile(pairs, 5))
    y = Choices(np.arange(0, 41, 2), np.tile([True, False], 20))
    found = replace(PLAN, hidden=(16,), epochs=100).learn_candidates(GroupedLesson(X, y))
    s = found.body.scores(X)[:, 0].reshape(-1, 2)
    assert (s[:, 0] > s[:, 1]).all()


@pytest.fixture(scope="module")
def model():
    return Recipe(task="rank", features=BLOCKS, learner=PLAN).fit(FIXED)


def test_a_saved_model_says_the_same_without_torch(model, tmp_path):
    path = tmp_path / "m.lin"
    model.save(path)
    asked = {"text": "iron zinc", "candidates": CLASSES}
    assert Model.load(path).scores([asked]).tobytes() == model.scores([asked]).tobytes()
    program = (
        "import sys; from linnaeus import Model; "
        f"print(Model.load({str(path)!r}).predict([{asked!r}])[0], 'torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "metal False"


def test_a_file_whose_network_does_not_fit_is_refused(model, tmp_path):
    path = tmp_path / "m.lin"
    model.save(path)
    state = load(path)
    form = Architecture(RowLayer(2), (), "relu", 3, 1)
    other = FittedNetwork(form, {name: np.zeros(shape, np.float32) for name, shape in form.shapes().items()}, {})
    tensors = {name: part for name, part in state.tensors.items() if not name.startswith("body.")}
    tensors |= {f"body.{name}": part for name, part in other.weights.items()}
    save(path, State({**state.manifest, "body": other.state().manifest}, tensors), force=True)
    with pytest.raises(ModelFileError, match="do not fit its features"):
        Model.load(path)


def test_reasons_are_approximate_and_say_so(model):
    why = model.explain(FIXED, 1)
    assert not why.exact
    assert "Approximate" in str(why)
    assert why.predicted == ("metal",)
    for reason in why.reasons:
        assert reason.score == pytest.approx(reason.bias + sum(part.contribution for part in reason.parts()))
    assert why.contrast.score == pytest.approx(why.reasons[0].score - why.reasons[1].score)
    assert any("iron" in part.name for part in why.contrast.parts())


def test_the_same_seed_gives_the_same_bits():
    plan = replace(PLAN, epochs=3, dropout=0.3)
    first, again = (plan.learn_candidates(lesson()).body for _ in range(2))
    assert all(first.weights[name].tobytes() == again.weights[name].tobytes() for name in first.weights)


def test_it_goes_on_from_a_checkpoint_to_the_same_bits():
    plan, states = replace(PLAN, epochs=3, dropout=0.3), []

    class Kept:
        def __init__(self, state=None):
            self.state = state

        def get(self):
            return self.state

        def put(self, state):
            states.append(State(dict(state.manifest), {name: np.array(one) for name, one in state.tensors.items()}))

    whole = plan.learn_candidates(lesson(Run(kept=Kept()))).body
    found = plan.learn_candidates(lesson(Run(kept=Kept(states[0])))).body
    assert all(whole.weights[name].tobytes() == found.weights[name].tobytes() for name in whole.weights)


def test_what_cannot_rank_is_refused():
    with pytest.raises(InputTypeError, match="ranked by"):
        Recipe(task="rank", learner=Multinomial())
    with pytest.raises(UsageError, match="take the losses"):
        Recipe(task="rank", learner=RankNetwork(loss="logistic"))
    with pytest.raises(UsageError, match="hidden"):
        RankNetwork(hidden=())


def test_the_recipe_is_plain_data_and_learns():
    found = recipe("plain-mlp").changed({"learner.hidden": (16,), "learner.loss": "hinge", "none": "option"})
    assert Recipe.from_json(found.to_json()) == found
    many = [["fruit bowl", "metal box"], ["metal box", "fruit bowl"]] * 20
    data = Groups.from_lists(["fruit", "metal"] * 20, many, [0, 0] * 20)
    assert recipe("plain-mlp").fit(data).evaluate(data).value() > 0.9
