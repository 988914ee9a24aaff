"""Kernel learners on bad input: one sentence each, or a documented answer; and models of strangers."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import MatrixClassifier, Recipe
from linnaeus.arrays import Dense
from linnaeus.errors import DataError, InputTypeError, LinnaeusError, ModelFileError, UsageError
from linnaeus.features import Letters, Nystrom, Words
from linnaeus.frozen import dataclass
from linnaeus.learners.kernel_methods import (
    AveragedKernelPerceptron,
    Expansion,
    FittedProcess,
    GaussianProcess,
    KernelPerceptron,
    KernelRidge,
    KernelSVM,
)
from linnaeus.model.summary import remains
from linnaeus.similarities import RBF, Polynomial, Subsequence
from linnaeus.types import LabelSets, Lesson, State

LEARNERS = [KernelPerceptron(), AveragedKernelPerceptron(), KernelRidge(), KernelSVM(), GaussianProcess()]
every = pytest.mark.parametrize("learner", LEARNERS, ids=lambda learner: type(learner).__name__)


@dataclass(frozen=True)
class Tanh:
    """A kernel of the user's own that is none: not positive semidefinite."""

    def matrix(self, A, B):
        return np.tanh(A.values @ B.values.T - 1.0)

    def diagonal(self, A):
        return np.tanh(A.squares() - 1.0)

    def weights(self, rows, duals):
        return None


def rows(n: int = 12):
    rng = np.random.default_rng(0)
    return rng.normal(size=(n, 2)), np.arange(n) % 2


@every
@pytest.mark.parametrize("kernel", [Tanh(), Polynomial(2, shift=-1.0)], ids=["tanh", "polynomial"])
def test_a_matrix_that_is_not_positive_semidefinite_is_refused(learner, kernel):
    X, y = rows()
    with pytest.raises(
        DataError, match=r"not positive semidefinite \(its smallest eigenvalue is -.*; use a kernel such"
    ):
        type(learner)(kernel=kernel).learn(Lesson(Dense(X), y, np.ones(len(X)), 2))


def test_a_matrix_that_is_not_symmetric_is_refused():
    class Lopsided(Tanh):
        def matrix(self, A, B):
            return A.values @ np.array([[1.0, 2.0], [0.0, 1.0]]) @ B.values.T

    X, y = rows()
    with pytest.raises(DataError, match="not symmetric"):
        KernelSVM(kernel=Lopsided()).learn(Lesson(Dense(X), y, np.ones(len(X)), 2))


@every
def test_duplicates_only_are_answered_by_what_most_of_them_say(learner):
    X = np.ones((9, 2))
    y = np.array([0, 1, 1, 0, 1, 1, 1, 0, 1])
    model = MatrixClassifier(learner=learner).fit(X, y)
    S = model.decision_function(np.ones((1, 2)))
    assert np.isfinite(S).all()
    if not isinstance(learner, KernelPerceptron):  # it says what its last mistakes taught it
        assert model.predict(np.ones((1, 2))).tolist() == [1]


@every
def test_rows_of_zeros_are_rows(learner):
    model = MatrixClassifier(learner=type(learner)(kernel="linear")).fit(np.zeros((6, 2)), [0, 1, 1, 0, 1, 1])
    assert np.isfinite(model.decision_function(np.zeros((2, 2)))).all()


@every
def test_labels_that_all_rows_or_none_have(learner):
    sets = LabelSets(np.arange(7, dtype=np.int64), np.zeros(6, np.int32))  # all have the first, none the second
    X = Dense(np.arange(12.0).reshape(6, 2) / 12)
    S = learner.learn(Lesson(X, sets, np.ones(6), 2)).scores(X)
    assert (S[:, 0] > 0).all()
    assert (S[:, 1] < 0).all()


@every
def test_numbers_that_overflow_are_refused(learner):
    X, y = np.array([[1e200], [-1e200], [1.0]]), np.array([0, 1, 1])
    with pytest.raises(DataError, match="finite"):
        type(learner)(kernel=Polynomial(4)).learn(Lesson(Dense(X), y, np.ones(3), 2))


def test_too_many_rows_are_refused_with_the_way_out():
    class Rows:
        shape = (30_000, 5)

    with pytest.raises(DataError, match=r"30,000 rows takes 7 GB.*Nystrom"):
        KernelRidge().learn(Lesson(Rows(), np.zeros(30_000, int), np.ones(30_000), 2))
    with pytest.raises(DataError, match=r"2,001 rows.*use KernelSVM"):
        GaussianProcess().learn(Lesson(Dense(np.zeros((2001, 1))), np.arange(2001) % 2, np.ones(2001), 2))


def test_the_process_has_no_weights():
    with pytest.raises(DataError, match="takes no row weights"):
        GaussianProcess().learn(Lesson(Dense(np.eye(2)), np.array([0, 1]), np.array([1.0, 2.0]), 2))


def test_a_strength_that_rounding_swallows():
    with pytest.raises(DataError, match="lost in rounding"):
        KernelRidge(kernel="linear", strength=1e-30).learn(
            Lesson(Dense(np.ones((3, 1))), np.array([0, 1, 1]), np.ones(3), 2)
        )


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: KernelSVM(strength=0.0), UsageError),
        (lambda: KernelSVM(tol=2.0), UsageError),
        (lambda: KernelRidge(strength="1"), InputTypeError),
        (lambda: GaussianProcess(strength=float("inf")), UsageError),
        (lambda: KernelPerceptron(epochs=0), UsageError),
        (lambda: KernelPerceptron(kernel="gauss"), UsageError),
        (lambda: Recipe(learner=KernelSVM()).fit([("a", 1.5), ("b", 2.5)]), LinnaeusError),
    ],
)
def test_what_cannot_be_meant_is_said(make, error):
    with pytest.raises(error):
        make()


TEXTS = [("a red apple", "fruit"), ("zinc and lead", "metal"), ("a pear", "fruit"), ("iron", "metal")] * 3


def test_a_kernel_of_ones_own_learns_and_cannot_be_saved(tmp_path):
    class Own(RBF):
        pass

    model = Recipe(features=Words(), learner=KernelSVM(kernel=Own())).fit(TEXTS)
    assert model.predict(["red pear"]).tolist() == ["fruit"]
    with pytest.raises(UsageError, match="own"):
        model.save(tmp_path / "m.lin")


def test_what_a_model_keeps_is_told():
    numbers = Recipe(features=Words(), learner=KernelSVM()).fit(TEXTS)
    assert remains(numbers).rows == len(numbers.body.rows) > 0
    assert "as numbers" in str(remains(numbers))
    letters = Recipe(features=Letters(), learner=KernelSVM(kernel=Subsequence())).fit(TEXTS)
    assert remains(letters).texts
    assert "KEPT: the letters" in str(remains(letters))
    landmarks = Recipe(features=Nystrom(Letters(), Subsequence()) | Words()).fit(TEXTS)
    assert (remains(landmarks).rows, remains(landmarks).texts) == (12, True)
    assert remains(Recipe(features=Words()).fit(TEXTS)).rows == 0


def models() -> list[State]:
    X, y = rows()
    sparse = Words().fit(["a b c"]).rows(["a", "b", "a b", "c", "a c", "b c"])
    truth = np.array([0, 1, 0, 1, 0, 1])
    return [
        KernelSVM().learn(Lesson(Dense(X), y, np.ones(len(X)), 2)).state(),
        KernelRidge().learn(Lesson(sparse, truth, np.ones(6), 2)).state(),
        GaussianProcess().learn(Lesson(sparse, truth, np.ones(6), 2)).state(),
    ]


@pytest.mark.parametrize("state", models(), ids=["dense", "sparse", "process"])
def test_every_part_of_a_state_is_needed_and_looked_at(state):
    build = {"expansion": Expansion, "process": FittedProcess}[state.manifest["kind"]].from_state
    build(state)
    for name, array in state.tensors.items():
        others = {key: value for key, value in state.tensors.items() if key != name}
        for changed in (None, array[:-1], array.astype(np.float16), array[None]):
            with pytest.raises(ModelFileError):
                build(State(state.manifest, others if changed is None else {**others, name: changed}))
        if array.dtype.kind == "f":
            with pytest.raises(ModelFileError):
                build(State(state.manifest, {**others, name: np.full_like(array, np.nan)}))
    for name in state.manifest.keys() - {"kind"}:
        for value in (None, -1, "x"):
            with pytest.raises(ModelFileError):
                build(State({**state.manifest, name: value}, state.tensors))


def test_columns_and_offsets_of_strangers_are_refused():
    state = models()[1]
    for name, at, value in [("rows.columns", 0, 99), ("rows.columns", 0, -1), ("rows.offsets", 1, 10**12)]:
        array = state.tensors[name].copy()
        array[at] = value
        with pytest.raises(ModelFileError):
            Expansion.from_state(State(state.manifest, {**state.tensors, name: array}))
