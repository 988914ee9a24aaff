"""Label trees: they learn and rank, with the same bits for any threads, and updates leave other labels as they are."""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.arrays import CSR, as_rows
from linnaeus.errors import DataError, InputTypeError, ModelFileError, UsageError
from linnaeus.learners.label_tree import FittedLabels, LabelTree
from linnaeus.learners.label_tree.chances import (
    LOWEST,
    curved,
    evidence,
    learn_curve,
    learn_threshold,
    uncalibrated,
)
from linnaeus.learners.label_tree.chunks import Chunks
from linnaeus.learners.label_tree.fitted import BORDER, merged
from linnaeus.learners.label_tree.names import LabelNames
from linnaeus.learners.label_tree.packing import packed, unpacked
from linnaeus.learners.label_tree.placing import placed
from linnaeus.learners.label_tree.updating import News, extended, nodes_of, renumbered
from linnaeus.types import LabelSets, Lesson, State

WIDTH = 400


def entries(tree: Chunks, nodes: Any) -> tuple[Any, ...]:
    """All weights of these nodes: which of the nodes, the column, the child counted from 0, and the weight."""
    parts = []
    for i, v in enumerate(nodes.tolist()):
        first, last, begin, end = tree.firsts[v], tree.firsts[v + 1], tree.begins[v], tree.begins[v + 1]
        sizes = np.diff(np.append(tree.spots[first:last].astype(np.int64), end - begin))
        columns = np.repeat(tree.columns[first:last], sizes)
        weights = tree.values[begin:end].astype(np.float32) * tree.scales[v]
        parts.append((np.full(len(columns), i), columns, tree.lanes[begin:end].astype(np.int64), weights))
    return tuple(np.concatenate([part[i] for part in parts]) for i in range(4))


def rows_of(labels: np.ndarray, seed: int = 0, noise: int = 4) -> CSR:
    """A row for each label: two columns of its own, one that it shares with a few others, and noise; of length 1."""
    rng = np.random.default_rng(seed)
    X = np.zeros((len(labels), WIDTH), np.float32)
    at = np.arange(len(labels))[:, None]
    X[at, rng.integers(300, WIDTH, (len(labels), noise))] = 0.5
    X[at, np.stack([2 * labels % 300, 2 * labels % 300 + 1, 200 + labels % 7], axis=1)] = 1.0
    return as_rows(X / np.linalg.norm(X, axis=1, keepdims=True)).to_csr()


def lesson_of(k: int, per: int = 4, seed: int = 0) -> Lesson:
    y = np.tile(np.arange(k), per).astype(np.int32)
    return Lesson(rows_of(y, seed), y, np.ones(len(y)), k)


def sets_of(k: int, n: int, seed: int = 0) -> Lesson:
    """Rows with two labels each."""
    first = np.arange(n) % k
    second = (first + 1 + np.arange(n) % (k - 1)) % k
    X = rows_of(first, seed).to_scipy() + rows_of(second, seed + 1).to_scipy()
    y = LabelSets(2 * np.arange(n + 1), np.sort(np.stack([first, second], 1), axis=1).reshape(-1).astype(np.int32))
    return Lesson(as_rows(X).to_csr(), y, np.ones(n), k)


def small(**settings: object) -> LabelTree:
    return LabelTree(**{"leaf": 4, "width": 4, **settings})


@pytest.fixture(scope="module")
def tree() -> FittedLabels:
    """60 labels in 16 leaves, below 4 and 4 nodes."""
    return small().learn(lesson_of(60))


def bits(found: FittedLabels) -> dict[str, bytes]:
    return {name: array.tobytes() for name, array in found.state().tensors.items()}


# Learning and ranking


@pytest.mark.parametrize(
    "learner",
    [small(), small(trees=3), small(bits=16), LabelTree(), small(leaf=1), small(shape="huffman", width=2)],
    ids=["tree", "trees", "16 bits", "flat", "leaves of one label", "huffman"],
)
def test_it_learns_and_ranks(learner: LabelTree) -> None:
    found = learner.learn(lesson_of(60))
    y = np.repeat(np.arange(60), 2)
    labels, scores = found.best(rows_of(y, seed=1), 5)
    assert (labels[:, 0] == y).mean() > 0.95
    assert labels.shape == scores.shape == (120, 5)
    assert (np.diff(scores, axis=1) <= 0).all()
    assert (labels >= 0).all()
    assert (np.diff(np.sort(labels, axis=1), axis=1) > 0).all(), "a label is named twice"
    assert found.k == len(found.names) == 60
    assert found.width == WIDTH
    assert found.counts.tolist() == [4] * 60


def test_it_learns_label_sets() -> None:
    found = small().learn(sets_of(20, 200))
    lesson = sets_of(20, 40, seed=5)
    labels, _ = found.best(lesson.X, 2)
    truth = lesson.y.labels.reshape(-1, 2)
    assert (np.sort(labels, axis=1) == truth).mean() > 0.9
    assert np.array_equal(found.counts, np.bincount(sets_of(20, 200).y.labels))


def test_the_bits_are_the_same_for_any_number_of_threads_and_every_run() -> None:
    rows = rows_of(np.arange(60), seed=1)
    seen = set()
    for threads in (1, 2, 8, 1):
        with kernels.threads(threads):
            found = small(trees=2).learn(lesson_of(60))
            labels, scores = found.best(rows, 7)
            one = [found.best(rows.take(np.array([i])), 7)[1].tobytes() for i in range(3)]
            assert one == [scores[i].tobytes() for i in range(3)], "a row depends on the rows beside it"
            seen.add((*bits(found).values(), labels.tobytes(), scores.tobytes()))
    assert len(seen) == 1


def test_another_seed_makes_another_tree() -> None:
    one, other = (small().learn(replace(lesson_of(60), seed=seed)) for seed in (0, 1))
    assert one.trees[0].targets.tolist() != other.trees[0].targets.tolist()


def step(s: np.ndarray) -> np.ndarray:
    """What a child of score s adds to a path, as `label_search.cpp` defines it."""
    return -((1 - np.minimum(s, 1)) ** 3)


def by_hand(tree: Chunks, rows: CSR) -> np.ndarray:
    """The scores of all labels by all paths."""
    X = rows.to_scipy().toarray().astype(np.float64)
    W = np.zeros((WIDTH, len(tree.targets)))
    owner, column, lane, weight = entries(tree, np.arange(len(tree.scales)))
    W[column, tree.starts[owner] + lane] = weight
    steps = step(X @ W + tree.biases)
    paths, S = {0: np.zeros(len(X))}, np.zeros((len(X), tree.labels))
    for v in range(len(tree.scales)):
        for c in range(tree.starts[v], tree.starts[v + 1]):
            to = int(tree.targets[c])
            if to >= 0:
                paths[to] = paths[v] + tree.share * steps[:, c]
            else:
                S[:, ~to] = paths[v] + steps[:, c]
    return S


def test_a_beam_as_wide_as_the_tree_scores_everything(tree: FittedLabels) -> None:
    rows = rows_of(np.arange(60), seed=1)
    labels, scores = tree.best(rows, 60, beam=1000)
    S = tree.scores(rows)
    assert np.allclose(S, by_hand(tree.labeled[0], rows) + BORDER, atol=1e-4)
    assert np.array_equal(np.take_along_axis(S, labels, axis=1), scores.astype(np.float64) + BORDER)
    assert np.array_equal(labels, np.lexsort((np.tile(np.arange(60), (60, 1)), -S), axis=1))


def test_a_narrow_beam_finds_the_same_scores_for_fewer_labels(tree: FittedLabels) -> None:
    rows = rows_of(np.arange(60), seed=1)
    S = tree.scores(rows)
    labels, scores = tree.best(rows, 60, beam=1)
    there = labels >= 0
    assert 1 <= there.sum(axis=1).min() <= there.sum(axis=1).max() < 60
    assert (scores[~there] == -np.inf).all()
    row, at = np.nonzero(there)
    assert np.array_equal(S[row, labels[row, at]], scores[row, at].astype(np.float64) + BORDER)


def test_more_labels_than_there_are_are_as_many_as_there_are(tree: FittedLabels) -> None:
    assert tree.best(rows_of(np.arange(2)), 999)[0].shape == (2, 60)
    assert tree.best(rows_of(np.arange(2)), 0)[0].shape == (2, 0)


def test_scores_of_very_many_labels_are_refused(tree: FittedLabels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.learners.label_tree.fitted.DENSE", 100)
    with pytest.raises(UsageError, match="Scores of all 60 labels of 2 rows are too many"):
        tree.scores(rows_of(np.arange(2)))
    with pytest.raises(UsageError, match="has 400 features, but the rows have 7"):
        tree.best(as_rows(np.ones((1, 7))).to_csr(), 1)


def test_several_trees_rank_by_the_mean_of_their_exponentials() -> None:
    found = small(trees=3).learn(lesson_of(60))
    rows = rows_of(np.arange(60), seed=1)
    single = [replace(found, trees=(tree,)) for tree in found.trees]
    assert len({one.trees[0].targets.tobytes() for one in single}) == 3
    mean = np.log(np.mean([np.exp(one.scores(rows) - BORDER) for one in single], axis=0))
    labels, scores = found.best(rows, 60, beam=1000)
    assert np.allclose(np.take_along_axis(mean, labels, axis=1), scores, atol=1e-5)


def test_labels_that_only_some_trees_find_get_nothing_from_the_others() -> None:
    parts = [
        (np.array([[2, 5]], np.int32), np.log(np.array([[0.5, 0.25]], np.float32))),
        (np.array([[5, -1]], np.int32), np.array([[np.log(0.75), -np.inf]], np.float32)),
    ]
    labels, scores = merged(parts, 3)
    assert labels.tolist() == [[5, 2, -1]]
    assert np.allclose(np.exp(scores), [[0.5, 0.25, 0.0]])


def test_sixteen_bits_are_nearer_to_the_weights_than_eight() -> None:
    rough, fine = (LabelTree(bits=bits).learn(lesson_of(60)) for bits in (8, 16))
    assert [found.trees[0].values.dtype for found in (rough, fine)] == [np.int8, np.int16]
    one, other = (entries(found.trees[0], np.array([0])) for found in (rough, fine))
    assert all(np.array_equal(one[i], other[i]) for i in range(3))
    assert 0 < np.abs(one[3] - other[3]).max() <= 0.51 * rough.trees[0].scales[0]
    assert np.abs(fine.trees[0].values).max() == 2**15 - 1
    assert rough.nbytes < fine.nbytes


def test_small_weights_are_dropped() -> None:
    many, few = (small(least=least).learn(lesson_of(60)) for least in (0.0, 0.3))
    assert len(few.trees[0].values) < len(many.trees[0].values) / 2
    kept = entries(few.trees[0], np.arange(len(few.trees[0].scales)))[3]
    assert np.abs(kept).min() >= 0.29


@pytest.mark.parametrize("k", [1, 2, 3, 5, 9])
@pytest.mark.parametrize("leaf", [1, 2, 4, 100])
def test_few_labels(k: int, leaf: int) -> None:
    found = small(leaf=leaf).learn(lesson_of(k))
    assert found.best(rows_of(np.arange(k)), 1)[0].ravel().tolist() == list(range(k))
    assert found.best(rows_of(np.arange(k)), 10)[0].shape == (k, k)


@pytest.mark.parametrize("learner", [small(), LabelTree(), small(trees=2)], ids=["tree", "flat", "trees"])
def test_rows_without_features_and_labels_without_rows(learner: LabelTree) -> None:
    lesson = lesson_of(30)
    y = np.where(lesson.y % 3 == 0, 1, lesson.y)
    X = lesson.X.to_scipy().tolil()
    X[0], X[3] = 0, 0
    found = learner.learn(replace(lesson, X=as_rows(X.tocsr()).to_csr(), y=y))
    labels, scores = found.best(rows_of(np.array([2, 4, 5]), seed=1), 3)
    assert labels[:, 0].tolist() == [2, 4, 5]
    nothing = CSR(np.zeros(2, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), WIDTH)
    labels, scores = found.best(nothing, 3)
    assert (labels >= 0).all()
    assert np.isfinite(scores).all()
    assert found.best(nothing.take(np.zeros(0, np.int64)), 3)[0].shape == (0, 3)


def test_rows_of_nothing_at_all() -> None:
    nothing = CSR(np.zeros(7, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), 5)
    found = small().learn(Lesson(nothing, np.arange(6, dtype=np.int32), np.ones(6), 6))
    assert found.best(nothing, 2)[0].shape == (6, 2)
    assert not len(found.common.columns)


def test_label_sets_that_are_empty() -> None:
    lesson = sets_of(6, 12)
    empty = LabelSets(np.minimum(lesson.y.offsets, 20), lesson.y.labels[:20])
    found = small(leaf=2).learn(replace(lesson, y=empty))
    assert found.counts.sum() == 20


def test_the_values_of_rows_may_be_doubles() -> None:
    lesson = lesson_of(20)
    doubles = CSR(lesson.X.indptr, lesson.X.indices, lesson.X.data.astype(np.float64), WIDTH)
    assert bits(small().learn(replace(lesson, X=doubles))) == bits(small().learn(lesson))


def test_rows_that_are_too_large_are_refused() -> None:
    lesson = lesson_of(6)
    huge = CSR(lesson.X.indptr, lesson.X.indices, lesson.X.data * np.float32(1e30), WIDTH)
    with pytest.raises(DataError, match=r"^A label tree cannot be learned: .*\.$"):
        small().learn(replace(lesson, X=huge))


def test_a_row_of_large_numbers_gets_a_score_that_is_finite(tree: FittedLabels) -> None:
    row = rows_of(np.arange(1))
    huge = CSR(row.indptr, row.indices, np.full(len(row.data), 3e38, np.float32), WIDTH)
    labels, scores = tree.best(huge, 3)
    assert (labels >= 0).all()
    assert np.isfinite(tree.chances(scores)).all()


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"leaf": -1}, "leaf"),
        ({"leaf": 1 << 17}, "leaf"),
        ({"width": 1}, "width"),
        ({"beam": 0}, "beam"),
        ({"led": -1}, "led"),
        ({"epochs": 0}, "epochs"),
        ({"trees": 0}, "trees"),
        ({"bits": 4}, "bits"),
        ({"strength": 0.0}, "strength"),
        ({"strength": float("nan")}, "strength"),
        ({"prior": -1.0}, "prior"),
        ({"share": 1.5}, "share"),
        ({"least": float("inf")}, "least"),
        ({"tol": 0.0}, "tol"),
        ({"shape": ""}, "shape"),
        ({"shape": "/", "trees": 2}, "shape"),
    ],
)
def test_settings_that_cannot_be_are_refused(settings: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=rf"LabelTree\({said}=\.\.\.\)"):
        LabelTree(**settings)


@pytest.mark.parametrize("settings", [{"leaf": 2.5}, {"trees": "3"}, {"share": "all"}, {"shape": 7}, {"bits": "8"}])
def test_settings_of_another_type_are_refused(settings: dict[str, object]) -> None:
    with pytest.raises((InputTypeError, UsageError), match=r"LabelTree\("):
        LabelTree(**settings)


def test_the_groups_are_small_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.learners.label_tree.outline.MOST_LANES", 8)
    found = LabelTree(leaf=100).learn(lesson_of(60)).trees[0]
    assert np.diff(found.starts).max() <= 8
    assert len(found.scales) > 1


def test_many_children_of_a_node_have_wide_numbers() -> None:
    y = np.arange(300, dtype=np.int32)
    X = as_rows(np.eye(300, dtype=np.float32)).to_csr()
    flat = LabelTree(leaf=1000).learn(Lesson(X, y, np.ones(300), 300))
    assert flat.trees[0].lanes.dtype == np.uint16
    assert flat.best(X, 1)[0].ravel().tolist() == y.tolist()
    assert FittedLabels.from_state(flat.state()).best(X, 1)[0].ravel().tolist() == y.tolist()


# Taxonomies


def paths(sign: str = "/") -> np.ndarray:
    """Names of 60 labels in 4 groups; the first group is not divided further."""
    parts = [("g0",) if i % 4 == 0 else (f"g{i % 4}", f"p{i % 4 * (i % 5)}") for i in range(60)]
    return np.array(sorted(sign.join((*part, f"{i:02d}")) for i, part in enumerate(parts)))


def taxonomy(sign: str = "/") -> FittedLabels:
    return LabelTree(shape=sign).learn(replace(lesson_of(60), labels=paths(sign)))


def way(found: FittedLabels, label: int) -> list[str]:
    """The names of the nodes above a label, from the top down."""
    homes, parents = replace(found, names=LabelNames.of(np.arange(found.trees[0].labels))).homes
    node, names = int(homes[label]), []
    while node:
        names.append(found.nodes[node])
        node = int(parents[node])
    return names[::-1]


@pytest.mark.parametrize("sign", [" > ", "::", " / ", ">", "\t"])
def test_every_separator_makes_the_same_tree(sign: str) -> None:
    one, other = taxonomy("/"), taxonomy(sign)
    assert other.nodes == tuple(node.replace("/", sign) for node in one.nodes)
    rows = rows_of(np.arange(60), seed=1)
    assert [part.tobytes() for part in one.best(rows, 60)] == [part.tobytes() for part in other.best(rows, 60)]


@pytest.mark.parametrize("shape", ["simlar", "a", "no such file.csv"])
def test_what_is_no_shape_is_refused(shape: str) -> None:
    with pytest.raises(UsageError, match=r"There is no file .*, \"huffman\", a separator without letters and digits"):
        LabelTree(shape=shape).learn(lesson_of(6))


PLACES = {
    "g1/p1/new": ["g1", "g1/p1"],
    "g1/p9/new": ["g1", "g1/p9"],
    "g1/p9/other": ["g1", "g1/p9"],
    "g0/new": ["g0", "g0"],
    "g2/new": ["g2", "g2"],
    "g3/p8/deep/new": ["g3", "g3/p8"],
    "g3": ["g3", "g3"],
}
"""New labels, and the nodes above them."""


@pytest.mark.parametrize("large", [False, True], ids=["packed", "mapped"])
def test_new_labels_of_a_taxonomy_go_below_the_nodes_that_they_name(
    large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("linnaeus.learners.label_tree.fitted.MAPPED", 0 if large else 1 << 40)
    learner, before, k = LabelTree(shape="/"), FittedLabels.from_state(taxonomy().state()), 60 + len(PLACES)
    fresh = replace(news(np.repeat(np.arange(60, k), 3), 60, k), names=tuple(PLACES))
    after = extended(learner, before, fresh)
    assert [way(after, label) for label in range(60, k)] == list(PLACES.values())
    assert [way(after, label) for label in range(60)] == [way(before, label) for label in range(60)]
    assert len(after.nodes) == len(before.nodes) + 4
    old, new = dense(before), dense(after)
    assert all(new[label] == old[label] for label in range(60))
    wide = replace(after, names=LabelNames.of(np.arange(k)))
    assert wide.best(rows_of(np.arange(60, k), seed=9), 1)[0].ravel().tolist() == list(range(60, k))
    again = FittedLabels.from_state(wide.state())
    again.verify()
    assert again.nodes == after.nodes


def test_labels_that_a_taxonomy_does_not_place_go_to_those_that_they_are_like() -> None:
    learner, before = LabelTree(shape="/"), taxonomy()
    told = replace(as_new(7, 60), names=("new/7",))
    assert way(extended(learner, before, told), 60) == way(before, 7)


def test_nodes_that_are_added_change_no_answer() -> None:
    before = taxonomy(" > ")
    after, homes = placed(" > ", before, ["g1 > a > b", "g3 > a > b", "other > a", "g1 > a > c"])
    rows = rows_of(np.arange(60), seed=1)
    assert np.array_equal(after.scores(rows), before.scores(rows))
    assert [after.nodes[home] if home >= 0 else None for home in homes] == ["g1 > a", "g3 > a", None, "g1 > a"]
    after.verify()


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.learners.label_tree.chunks.MOST_LANES", 8)
    with pytest.raises(UsageError, match="train a new model on all rows"):
        placed("/", taxonomy(), [f"g1/{i}/x" for i in range(9)])


def test_new_labels_are_looked_up_in_the_file_of_a_taxonomy(tmp_path: Path) -> None:
    path = tmp_path / "parents.csv"
    rows = ["child,parent", *(f"{i},part {i % 5}" for i in range(60)), *(f"part {i},group {i % 2}" for i in range(5))]
    path.write_text("\n".join(rows), encoding="utf-8")
    learner = LabelTree(shape=str(path))
    before = learner.learn(lesson_of(60))
    told = replace(as_new(7, 60), names=("a new one",))
    assert way(before, 7) == ["group 0", "part 2"]
    assert way(extended(learner, before, told), 60) == way(before, 7), "it does not stand in the file"
    path.write_text("\n".join([*rows, "a new one,part 3"]), encoding="utf-8")
    assert way(extended(learner, before, told), 60) == ["group 1", "part 3"]
    path.write_text("\n".join([*rows, "a new one,part 9", "part 9,group 1"]), encoding="utf-8")
    assert way(extended(learner, before, told), 60) == ["group 1", "part 9"]
    path.unlink()
    assert way(extended(learner, before, told), 60) == way(before, 7), "the file is gone"


# Files


@pytest.mark.parametrize("large", [False, True], ids=["packed", "mapped"])
@pytest.mark.parametrize("learner", [small(), small(trees=2), small(bits=16), LabelTree()], ids=repr)
def test_both_forms_of_a_file_give_the_same_bits(
    learner: LabelTree, large: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, rows = learner.learn(lesson_of(60)), rows_of(np.arange(60), seed=1)
    monkeypatch.setattr("linnaeus.learners.label_tree.fitted.MAPPED", 0 if large else 1 << 40)
    state = found.state()
    assert any(name.endswith("digests") for name in state.tensors) is large
    again = FittedLabels.from_state(state)
    again.verify()
    for one, other in zip(found.best(rows, 7), again.best(rows, 7), strict=True):
        assert one.tobytes() == other.tobytes()
    assert bits(again) == bits(found)
    assert bits(pickle.loads(pickle.dumps(again))) == bits(found)


def test_a_chunk_that_does_not_match_its_digest_is_found_when_it_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.learners.label_tree.fitted.MAPPED", 0)
    state = small().learn(lesson_of(60)).state()
    wrong = state.tensors["0.values"].copy()
    wrong[-1] ^= 1
    again = FittedLabels.from_state(State(state.manifest, {**state.tensors, "0.values": wrong}))
    with pytest.raises(ModelFileError, match="does not match its digest"):
        again.best(rows_of(np.arange(60)), 3)
    with pytest.raises(ModelFileError, match="does not match its digest"):
        again.verify()


@st.composite
def nodes(draw: st.DrawFn) -> tuple[np.ndarray, ...]:
    """Nodes with rising columns, each with at least one value."""
    firsts, columns, begins, spots = [0], [], [0], []
    for _ in range(draw(st.integers(1, 5))):
        own = sorted(draw(st.sets(st.integers(0, 2**31 - 1) | st.integers(0, 300), max_size=6)))
        at = 0
        for column in own:
            columns.append(column)
            spots.append(at)
            at += draw(st.integers(1, 4))
        firsts.append(len(columns))
        begins.append(begins[-1] + at)
    longs = [np.array(part, np.int64) for part in (firsts, begins)]
    return longs[0], np.array(columns, np.int32), longs[1], np.array(spots, np.uint32)


@given(nodes())
def test_packed_columns_are_unpacked_again(made: tuple[np.ndarray, ...]) -> None:
    firsts, columns, begins, spots = made
    arrays = packed(firsts, columns, begins, spots, int(begins[-1]))
    found = unpacked(arrays, firsts, begins)
    assert [part.tolist() for part in found] == [columns.tolist(), spots.tolist()]
    assert [part.dtype for part in found] == [columns.dtype, spots.dtype]


@given(st.binary(max_size=40), st.binary(max_size=5), st.integers(0, 40), st.integers(0, 40))
def test_what_is_no_packing_is_refused_or_fits(gaps: bytes, marks: bytes, count: int, columns: int) -> None:
    arrays = {"gaps": np.frombuffer(gaps, np.uint8), "marks": np.frombuffer(marks, np.uint8)}
    firsts, begins = np.array([0, columns // 2, columns]), np.array([0, count // 2, count])
    try:
        found, spots = unpacked(arrays, firsts, begins)
    except ModelFileError:
        return
    assert len(found) == len(spots) == columns
    assert (found >= 0).all()


# Names


@pytest.mark.parametrize(
    "names",
    [
        ["apple", "fig", "pear"],
        ["", "a", "ä", "äa", "日本", "\U0001f600", "\ud800"],
        ["x" * 10_000, *map(str, range(99))],
        ["one"],
    ],
    ids=["plain", "beyond ASCII", "a long one", "one"],
)
def test_strings(names: list[str]) -> None:
    ordered = sorted(names)
    found = LabelNames.of(np.array(ordered, dtype=object))
    assert [found[i] for i in range(len(found))] == ordered
    assert found.find(ordered).tolist() == list(range(len(ordered)))
    assert found.find(["no such name", "", "zzz"]).tolist()[0] == -1
    assert found.find([]).tolist() == []
    assert found.array().tolist() == ordered
    assert found.listed(np.array([0, 0, len(ordered) - 1])) == [ordered[0], ordered[0], ordered[-1]]
    again = LabelNames.restored(found.tensors(), {})
    assert again.array().tolist() == ordered
    assert pickle.loads(pickle.dumps(again)).array().tolist() == ordered


@given(st.sets(st.text(max_size=8), min_size=1, max_size=30), st.lists(st.text(max_size=8), max_size=5))
def test_every_name_is_found_and_no_other(names: set[str], others: list[str]) -> None:
    ordered = sorted(names)
    found = LabelNames.of(np.array(ordered, dtype=object))
    assert found.find(ordered).tolist() == list(range(len(ordered)))
    assert (found.find([other for other in others if other not in names]) == -1).all()


@pytest.mark.parametrize("part", ["b", "cd", "ab", "", "zz", "é", "dc"])
def test_a_name_with_a_part(part: str) -> None:
    names = LabelNames.of(np.array(["ab", "cab", "cde", "dé"]))
    found = names.containing(part)
    assert len(found) <= 1
    assert bool(found) == any(part in names[i] for i in range(4))
    assert all(part in name for name in found)


def test_numbers() -> None:
    names = LabelNames.of(np.array([-3, 0, 7, 10**15 + 1]))
    assert names[2] == 7
    assert type(names[2]) is int
    assert names.find([7, "7", "7.0", 7.0, np.int64(0), 10**15 + 1, str(10**15 + 1)]).tolist() == [2, 2, 2, 2, 1, 3, 3]
    assert names.find(["x", 8, None, "nan", "", 7.5, 10**15 + 2]).tolist() == [-1] * 7
    assert names.containing("-") == ["-3"]
    assert LabelNames.restored(names.tensors(), {}).array().tolist() == [-3, 0, 7, 10**15 + 1]


@pytest.mark.parametrize(
    "labels",
    [
        np.array([b"a", b"bc"]),
        np.array(["2020-01-01", "2021-05-05"], "M8[D]"),
        np.array([False, True]),
        np.array([0.5, 2.0]),
    ],
    ids=["bytes", "dates", "truth values", "floats"],
)
def test_labels_of_other_kinds(labels: np.ndarray) -> None:
    names = LabelNames.of(labels)
    assert [names[0], names[1]] == labels.tolist()
    assert names.find([str(label) for label in labels.tolist()]).tolist() == [0, 1]
    assert names.find(labels.tolist()).tolist() == [0, 1]
    assert names.find(["nothing", None]).tolist() == [-1, -1]
    assert LabelNames.restored(names.tensors(), {}).array().tolist() == labels.tolist()


def test_names_that_are_added() -> None:
    names, places = LabelNames.of(np.array(["b", "d"])).joined(["a", "e", "c"])
    assert names.array().tolist() == list("abcde")
    assert places.tolist() == [1, 3, 0, 4, 2]
    numbers = LabelNames.of(np.array([5, 50]))
    more = numbers.alike(["7", 8, "9.0"])
    assert more == [7, 8, 9]
    assert numbers.joined(more)[0].array().tolist() == [5, 7, 8, 9, 50]
    assert LabelNames.of(np.array(["b"])).alike([7]) == ["7"]
    for wrong in ("x", 7.5, None):
        with pytest.raises(UsageError, match="of another kind"):
            numbers.alike([wrong])


def test_strings_are_found_by_what_is_written_like_them() -> None:
    assert LabelNames.of(np.array(["1", "2"])).find([1, 2, 3, None]).tolist() == [0, 1, -1, -1]


@pytest.mark.parametrize(
    "wrong",
    [
        {"names.offsets": np.array([0, 9, 3])},
        {"names.offsets": np.array([0, 1, 99])},
        {"names.offsets": np.array([1, 1, 3])},
        {"names.offsets": np.array([0, -1, 3])},
        {"names.offsets": np.zeros(0, np.int64)},
        {"names.offsets": np.array([0, 1, 3], np.int32)},
        {"names.bytes": np.zeros(3, np.int8)},
        {"names.bytes": None},
        {"names.offsets": None},
    ],
)
def test_damaged_names_are_refused(wrong: dict[str, np.ndarray | None]) -> None:
    sound = LabelNames.of(np.array(["a", "bc"])).tensors()
    tensors = {name: array for name, array in {**sound, **wrong}.items() if array is not None}
    with pytest.raises(ModelFileError):
        LabelNames.restored(tensors, {})


def test_bytes_that_are_no_text_are_refused_when_they_are_read() -> None:
    sound = LabelNames.of(np.array(["a", "bc"])).tensors()
    names = LabelNames.restored({**sound, "names.bytes": np.array([97, 0xFF, 0xFF], np.uint8)}, {})
    assert names[0] == "a"
    with pytest.raises(ModelFileError, match="UTF-8"):
        _ = names[1]


# Chances


def ranked(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Scores of the ten best labels of rows, which of them are right by a known curve, and the chances of that."""
    rng = np.random.default_rng(seed)
    scores = -np.sort(rng.gamma(1.0, 1.5, (n, 10)), axis=1).astype(np.float32)
    chances = curved(evidence(scores), (1.5, -0.8, 1.0))
    return scores, rng.random(scores.shape) < chances, chances


def test_a_curve_is_learned_from_held_out_rows() -> None:
    scores, right, chances = ranked(4000)
    found = curved(evidence(scores), learn_curve(scores, right, np.ones(4000)))
    assert np.abs(found - chances).max() < 0.03


def test_weights_count_rows() -> None:
    scores, right, _ = ranked(300)
    weights = np.tile([1.0, 3.0], 150)
    often = np.repeat(np.arange(300), weights.astype(int))
    one, other = learn_curve(scores, right, weights), learn_curve(scores[often], right[often], np.ones(len(often)))
    assert np.allclose(one, other, atol=1e-6)


def cases() -> Iterator[tuple[str, np.ndarray, np.ndarray]]:
    scores, right, _ = ranked(200)
    first = np.arange(10) == 0
    far = np.where(first, np.float32(-0.05), np.float32(-20))
    yield "every first label", np.tile(far, (200, 1)), np.tile(first, (200, 1))
    yield "all but one", np.tile(far, (200, 1)), np.tile(first, (200, 1)) & (np.arange(200) != 5)[:, None]
    yield "all", scores, np.ones_like(right)
    yield "one of all", scores, np.arange(2000).reshape(200, 10) == 0
    yield "huge scores", scores * np.float32(1e4), right
    yield "labels that were not found", np.where(np.arange(10) < 3, scores, -np.inf).astype(np.float32), right
    yield "scores as bad as can be", np.where(first, scores, np.float32(-1e30)), right & first


@pytest.mark.parametrize(
    ("name", "scores", "right"), list(cases()), ids=lambda value: value if isinstance(value, str) else ""
)
def test_a_curve_of_odd_rows_is_better_than_none(name: str, scores: np.ndarray, right: np.ndarray) -> None:
    del name

    def loss(curve: tuple[float, float, float]) -> float:
        there = np.isfinite(scores)
        P = np.clip(curved(evidence(scores), curve)[there], 1e-12, 1 - 1e-12)
        return float(-np.where(right[there], np.log(P), np.log(1 - P)).mean())

    found = learn_curve(scores, right, np.ones(200))
    share = right[np.isfinite(scores)].mean()
    assert np.isfinite(found).all()
    assert loss(found) < loss((1.0, 0.0, 0.0))
    assert share in (0, 1) or loss(found) <= -share * np.log(share) - (1 - share) * np.log(1 - share) + 1e-3


def test_chances_without_a_curve_are_shares() -> None:
    scores = np.array([[-0.1, -2.0, -np.inf], [-1e30, -np.inf, -np.inf]], np.float32)
    chances = uncalibrated(scores)
    assert chances[0].sum() == pytest.approx(1)
    assert chances[0, 2] == 0
    assert ((chances >= 0) & (chances <= 1)).all()


def test_the_threshold_of_sets_is_where_micro_f1_is_best() -> None:
    chances = np.array([[0.9, 0.6, 0.2], [0.8, 0.3, 0.1]])
    right = np.array([[True, True, False], [True, False, False]])
    assert learn_threshold(chances, right, np.array([2, 1])) == 0.6


# Updates


def dense(found: FittedLabels) -> dict[int, tuple[bytes, float]]:
    """The weights and the bias of each label."""
    tree = found.labeled[0]
    owner, column, lane, weight = entries(tree, np.arange(len(tree.scales)))
    W = np.zeros((len(tree.targets), WIDTH), np.float32)
    W[tree.starts[owner] + lane, column] = weight
    leaves = np.flatnonzero(tree.targets < 0)
    return {int(~tree.targets[at]): (W[at].tobytes(), float(tree.biases[at])) for at in leaves}


def news(labels: np.ndarray, known: int, k: int, seed: int = 3) -> News:
    offsets = np.arange(len(labels) + 1, dtype=np.int64)
    y = LabelSets(offsets, labels.astype(np.int32))
    return News(rows_of(labels, seed), y, np.ones(len(labels)), known, k)


@pytest.mark.parametrize("learner", [small(), small(bits=16), LabelTree()], ids=["tree", "16 bits", "flat"])
def test_new_labels_are_learned_and_the_others_keep_their_weights(learner: LabelTree) -> None:
    before = learner.learn(lesson_of(60))
    after = extended(learner, before, news(np.repeat([60, 61, 62], 3), 60, 63))
    old, new = dense(before), dense(after)
    assert set(new) == set(range(63))
    assert all(new[label] == old[label] for label in range(60))
    assert after.counts.tolist() == [4] * 60 + [3] * 3
    assert after.trees[0].labels == 63
    wide = replace(after, names=LabelNames.of(np.arange(63)))
    rows = rows_of(np.array([60, 61, 62]), seed=9)
    assert wide.best(rows, 1)[0].ravel().tolist() == [60, 61, 62]
    assert (wide.best(rows_of(np.arange(60), seed=1), 1)[0].ravel() == np.arange(60)).mean() > 0.95
    FittedLabels.from_state(wide.state()).verify()


def test_known_labels_are_learned_again_and_only_they() -> None:
    learner, before = small(), small().learn(lesson_of(60))
    after = extended(learner, before, news(np.array([5, 5, 40]), 60, 60))
    old, new = dense(before), dense(after)
    assert {label for label in range(60) if new[label] != old[label]} == {5, 40}
    assert after.counts[[5, 40, 6]].tolist() == [6, 5, 4]
    assert after.best(rows_of(np.array([5, 40]), seed=9), 1)[0].ravel().tolist() == [5, 40]


def test_an_update_gives_the_same_bits_for_any_threads() -> None:
    seen = []
    for threads in (1, 2, 8):
        with kernels.threads(threads):
            learner = small(trees=2)
            after = extended(learner, learner.learn(lesson_of(60)), news(np.arange(57, 63), 60, 63))
            seen.append(bits(replace(after, names=LabelNames.of(np.arange(63)))))
    assert seen[0] == seen[1] == seen[2]


def test_updates_of_nothing_change_nothing(tree: FittedLabels) -> None:
    nothing = News(rows_of(np.arange(2)), LabelSets(np.zeros(3, np.int64), np.zeros(0, np.int32)), np.ones(2), 60, 60)
    assert extended(small(), tree, nothing) is tree


def test_rows_without_known_words_update_too(tree: FittedLabels) -> None:
    empty = CSR(np.zeros(3, np.int64), np.zeros(0, np.int32), np.zeros(0, np.float32), WIDTH)
    y = LabelSets(np.arange(3), np.array([60, 7], np.int32))
    after = extended(small(), tree, News(empty, y, np.ones(2), 60, 61))
    assert after.trees[0].labels == 61
    assert len(dense(after)) == 61


def test_more_than_256_children_of_a_node() -> None:
    y = np.arange(250, dtype=np.int32)
    X = as_rows(np.eye(250, 300, dtype=np.float32)).to_csr()
    learner = LabelTree(leaf=1000)
    flat = learner.learn(Lesson(X, y, np.ones(250), 250))
    assert flat.trees[0].lanes.dtype == np.uint8
    fresh = as_rows(np.eye(300, dtype=np.float32)[250:]).to_csr()
    sets = LabelSets(np.arange(51), np.arange(250, 300, dtype=np.int32))
    after = extended(learner, flat, News(fresh, sets, np.ones(50), 250, 300))
    assert after.trees[0].lanes.dtype == np.uint16
    after = replace(after, names=LabelNames.of(np.arange(300)))
    assert after.best(fresh, 1)[0].ravel().tolist() == list(range(250, 300))
    assert after.best(X, 1)[0].ravel().tolist() == list(range(250))
    FittedLabels.from_state(after.state()).verify()


def test_too_many_children_are_refused(tree: FittedLabels, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.learners.label_tree.chunks.MOST_LANES", 8)
    alike = rows_of(np.full(6, 7))
    y = LabelSets(np.arange(7), np.arange(60, 66, dtype=np.int32))
    with pytest.raises(UsageError, match="train a new model on all rows"):
        extended(small(), tree, News(alike, y, np.ones(6), 60, 66))


def test_labels_are_numbered_anew(tree: FittedLabels) -> None:
    numbers = np.random.default_rng(0).permutation(60)
    after = renumbered(tree, numbers)
    rows = rows_of(np.arange(60), seed=1)
    assert np.array_equal(after.best(rows, 60, 999)[1], tree.best(rows, 60, 999)[1])
    assert np.array_equal(after.best(rows, 1)[0], numbers[tree.best(rows, 1)[0]])


def test_removed_labels_are_gone_and_the_others_keep_their_scores(tree: FittedLabels) -> None:
    gone = np.array([0, 17, 18, 59])
    kept = np.setdiff1d(np.arange(60), gone)
    numbers = np.full(60, -1)
    numbers[kept] = np.arange(56)
    after = replace(renumbered(tree, numbers), names=LabelNames.of(kept))
    rows = rows_of(np.arange(60), seed=1)
    assert np.array_equal(after.scores(rows), tree.scores(rows)[:, kept])
    assert after.counts.tolist() == [4] * 56
    FittedLabels.from_state(after.state()).verify()


def test_a_node_whose_labels_are_all_removed_stays_empty_and_can_grow_again(tree: FittedLabels) -> None:
    home = nodes_of(tree.labeled[0])
    gone = np.flatnonzero(home == home[7])
    kept = np.setdiff1d(np.arange(60), gone)
    numbers = np.full(60, -1)
    numbers[kept] = np.arange(len(kept))
    after = replace(renumbered(tree, numbers), names=LabelNames.of(kept))
    shape = after.trees[0]
    assert (np.diff(shape.starts) == 0).sum() == 1
    assert len(shape.scales) == len(tree.trees[0].scales)
    labels, _ = after.best(rows_of(kept, seed=1), 3)
    assert (labels[:, 0] == np.arange(len(kept))).mean() > 0.95
    again = FittedLabels.from_state(after.state())
    k = len(kept)
    more = extended(small(), again, as_new(7, k))
    assert dense(more).keys() == set(range(k + 1))
    assert replace(more, names=LabelNames.of(np.arange(k + 1))).best(rows_of(np.array([7]), 9), 1)[0].tolist() == [[k]]


def as_new(label: int, number: int) -> News:
    """Rows that are like those of a label, under another number, which is new."""
    rows = rows_of(np.full(3, label), seed=3)
    return News(rows, LabelSets(np.arange(4), np.full(3, number, np.int32)), np.ones(3), number, number + 1)


def test_all_but_one_label_can_be_removed(tree: FittedLabels) -> None:
    numbers = np.full(60, -1)
    numbers[33] = 0
    after = replace(renumbered(tree, numbers), names=LabelNames.of(np.array([33])))
    assert after.best(rows_of(np.array([33, 4])), 5, beam=999)[0].tolist() == [[0], [0]]
    assert LOWEST < after.best(rows_of(np.array([33])), 1)[1][0, 0] < 0
