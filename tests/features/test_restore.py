"""States that no piece gave: a sentence for each, never a traceback from the depths."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from linnaeus.data.batch import Batch
from linnaeus.errors import ModelFileError
from linnaeus.features import Affixes, Columns, Lexicon, Ready, Selected, Shape, Weighted, restore
from linnaeus.features.restore import RESTORERS
from linnaeus.store.states import nested, pack_strings, unpack_strings
from linnaeus.types import State


@pytest.mark.parametrize("strings", [[], [""], ["a", "", "äö", "\x00", "👍", "\ud800"]])
def test_strings_survive(strings):
    assert unpack_strings("s", pack_strings("s", strings)) == strings


@pytest.mark.parametrize("offsets", [[], [0], [0, 1], [1, 2], [0, 2, 1, 2], [0, 3]])
def test_offsets_that_do_not_fit(offsets):
    tensors = {"s.bytes": np.frombuffer(b"ab", np.uint8), "s.offsets": np.array(offsets, np.int64)}
    with pytest.raises(ModelFileError, match="offsets"):
        unpack_strings("s", tensors)


def test_bytes_that_are_no_text():
    tensors = {"s.bytes": np.frombuffer(b"\xff", np.uint8), "s.offsets": np.array([0, 1], np.int64)}
    with pytest.raises(ModelFileError, match=r"UTF-8; restore it from a copy, or train it again\.$"):
        unpack_strings("s", tensors)


def test_blocks_keep_their_tensors_apart():
    state = (Affixes() | (Affixes() * Shape())).fit(["good films"]).state()
    assert {"0.terms.bytes", "1.pairs", "1.0.terms.bytes"} <= set(state.tensors)
    assert [part.manifest["kind"] for part in nested(state)] == ["affixes", "conjunction"]


@pytest.mark.parametrize("kind", [None, 3, "unheard of", ["union"]])
def test_kinds_that_are_not_in_the_table(kind):
    with pytest.raises(ModelFileError, match="does not know; upgrade"):
        restore(State({"kind": kind}, {}))


@pytest.mark.parametrize("kind", sorted(set(RESTORERS) - {"shape"}))
def test_states_with_nothing_in_them(kind):
    with pytest.raises(ModelFileError, match="damaged"):
        restore(State({"kind": kind}, {}))


@pytest.mark.parametrize("blocks", [3, "shape", [3], {"kind": "shape"}])
def test_blocks_that_are_no_blocks(blocks):
    with pytest.raises(ModelFileError, match="blocks"):
        restore(State({"kind": "union", "blocks": blocks}, {}))


def test_tensors_of_no_block_are_left_alone():
    state = (Affixes() | Shape()).fit(["good films"]).state()
    strange = {"9" * 5000 + ".x": np.ones(1), "2.x": np.ones(1), "\u0661.x": np.ones(1)}
    assert restore(State(state.manifest, {**state.tensors, **strange})).names() == restore(state).names()


def test_blocks_without_end():
    manifest = {"kind": "shape"}
    for _ in range(500):
        manifest = {"kind": "union", "blocks": [manifest]}
    with pytest.raises(ModelFileError, match="deep"):
        restore(State(manifest, {}))


@pytest.mark.parametrize(
    ("recipe", "change"),
    [
        (Weighted(Affixes(), "tfidf"), {"values": {"kind": "cube"}}),
        (Weighted(Affixes(), "tfidf"), {"values": {"kind": "tfidf", "tf": "cube"}}),
        (Weighted(Affixes(), "tfidf"), {"values": {"kind": "tfidf", "x": 1}}),
        (Weighted(Affixes(), "tfidf"), {"length": "l9"}),
        (Weighted(Affixes(), "tfidf"), {"mean_length": 0}),
        (Weighted(Affixes(), "tfidf"), {"length": []}),
        (Affixes(), {"prefixes": 3}),
        (Affixes(), {"prefixes": ["x"]}),
        (Affixes(), {"prefixes": [0]}),
        (Columns(categorical=("k",)), {"categorical": [["k"]]}),
        (Ready(2) | Ready(2), {"blocks": [{"kind": "ready", "width": 2**31}] * 2}),
    ],
)
def test_manifests_that_were_changed(recipe, change):
    state = recipe.fit(Batch(pa.array(["good films"]), columns={"k": pa.array(["a"])})).state()
    with pytest.raises(ModelFileError, match="damaged"):
        restore(State({**state.manifest, **change}, state.tensors))


@pytest.mark.parametrize(
    ("recipe", "name", "array"),
    [
        (Weighted(Affixes(), "tfidf"), "weights", np.ones(1, np.float32)),
        (Weighted(Affixes(), "tfidf"), "weights", np.ones(12)),
        (Selected(Shape(), "df", k=2), "columns", np.array([1, 0], np.int32)),
        (Selected(Shape(), "df", k=2), "columns", np.array([0, 99], np.int32)),
        (Affixes() * Shape(), "pairs", np.array([10**9], np.int64)),
        (Lexicon(["a"]), "weights", np.ones(2)),
        (Lexicon(["a"]), "words.bytes", np.frombuffer(b" ", np.uint8)),
    ],
)
def test_tensors_that_were_changed(recipe, name, array):
    state = recipe.fit(["Good films"]).state()
    with pytest.raises(ModelFileError, match="damaged"):
        restore(State(state.manifest, {**state.tensors, name: array}))
