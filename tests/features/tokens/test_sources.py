"""Columns made from files: word clusters and gazetteers, in features and in what is stored."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.data.sentences import Sentences
from linnaeus.errors import DataError, LinnaeusError, ModelFileError, UsageError
from linnaeus.features.tokens import Clusters, FittedTemplates, Gazetteer, Templates, Window
from linnaeus.types import State

SENTENCES = Sentences.from_lists([["The", "New", "York", "Times", "of", "York"], [], ["york", "New"]])


@pytest.fixture
def clusters(tmp_path):
    path = tmp_path / "clusters.tsv"
    path.write_text("the\t0010\nNew\t01\nYork\t011\n\n", encoding="utf-8")
    return Clusters(str(path))


@pytest.fixture
def places(tmp_path):
    path = tmp_path / "places.txt"
    path.write_text("New  York\nYork\nNew York Times\tORG\nYork\tPER\n", encoding="utf-8")
    return Gazetteer(str(path))


def test_clusters_beside_tokens(clusters):
    assert clusters.read().column(SENTENCES).to_pylist() == ["0010", "01", "011", None, None, "011", None, "01"]


def test_files_of_brown_clusters(tmp_path):
    (tmp_path / "paths").write_text("0010\tthe\t99\n01\tYork\t3\n", encoding="utf-8")
    found = Clusters(str(tmp_path / "paths")).read().column(SENTENCES)
    assert found.to_pylist() == ["0010", None, "01", None, None, "01", None, None]


def test_the_longest_phrase_is_marked(places):
    marks = ["B-ORG", "I-ORG", "I-ORG"]
    assert places.read().column(SENTENCES).to_pylist() == [None, *marks, None, "B-PER|places", None, None]
    lower = Gazetteer(places.path, case="lower").read()
    assert lower.column(SENTENCES).to_pylist() == [None, *marks, None, "B-PER|places", "B-PER|places", None]


def test_phrases_do_not_cross_sentences_and_may_be_none(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("a b\n", encoding="utf-8")
    made = Gazetteer(str(path)).read()
    assert made.column(Sentences.from_lists([["a"], ["b"]])).to_pylist() == [None, None]
    assert made.column(Sentences.from_lists([["a", "b"], []])).to_pylist() == ["B-a", "I-a"]
    assert made.column(Sentences.from_lists([])).to_pylist() == []


def test_features_of_both_are_stored_with_the_templates(clusters, places):
    items = (Window(("prefix2", "word"), (-1, 0), "cluster"), Window(("word",), (0,), "gazetteer"))
    fitted = Templates(items, sources=(clusters, places)).fit(SENTENCES)
    names = [name for _, name in fitted.named(SENTENCES, 2)]
    assert names == [
        "cluster.prefix2[-1]=01",
        "cluster[-1]=01",
        "cluster.prefix2[0]=01",
        "cluster[0]=011",
        "gazetteer[0]=I-ORG",
    ]
    again = FittedTemplates.from_state(fitted.state())
    new = Sentences.from_lists([["THE", "new", "York"]])
    assert again.rows(new).indices.tolist() == fitted.rows(new).indices.tolist()
    W = np.random.default_rng(0).normal(size=(fitted.width, 2)).astype(np.float32)
    assert np.allclose(again.scores(SENTENCES, W), fitted.rows(SENTENCES).dot(W), atol=1e-5)


def _changed(name, change):
    return lambda state: State(state.manifest, {**state.tensors, name: change(state.tensors[name].copy())})


@pytest.mark.parametrize(
    "damage",
    [
        _changed("0.of_word", lambda a: a + 9),
        _changed("0.of_word", lambda a: a[1:]),
        _changed("1.of_phrase", lambda a: a - 9),
        lambda state: State({**state.manifest, "blocks": state.manifest["blocks"][:1]}, state.tensors),
        lambda state: State({**state.manifest, "sources": [{"kind": "other"}]}, state.tensors),
        lambda state: State({**state.manifest, "blocks": [{"kind": "x"}, {"kind": "y"}]}, state.tensors),
    ],
)
def test_damaged_sources_are_refused(clusters, places, damage):
    items = (Window(("word",), (0,), "cluster"), Window(("word",), (0,), "gazetteer"))
    state = Templates(items, sources=(clusters, places)).fit(SENTENCES).state()
    with pytest.raises(ModelFileError, match="damaged"):
        FittedTemplates.from_state(damage(state))


def test_bad_files_and_names_get_a_sentence(tmp_path, clusters):
    (tmp_path / "a").write_text("word\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: has 1 parts"):
        Clusters(str(tmp_path / "a")).read()
    with pytest.raises(DataError, match="no such file"):
        Gazetteer(str(tmp_path / "none")).read()
    (tmp_path / "b").write_text("a\tb\tc\n", encoding="utf-8")
    with pytest.raises(DataError, match="line 1: must be a phrase"):
        Gazetteer(str(tmp_path / "b")).read()
    (tmp_path / "c").write_bytes(b"\xff\tc\n")
    with pytest.raises(DataError, match="line 1, byte 0"):
        Clusters(str(tmp_path / "c")).read()
    with pytest.raises(UsageError, match="name of its own"):
        Templates(sources=(clusters, clusters))
    with pytest.raises(LinnaeusError, match="sources"):
        Templates(sources=("clusters.tsv",))
