"""Label trees in files: small ones are checked as a whole, mapped ones as they are used; hostile ones are refused."""

from __future__ import annotations

import copy
import json
import os
import pickle
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.store.mutants import file_of

import linnaeus
from linnaeus import Model, Recipe, read, store
from linnaeus.cli.main import main
from linnaeus.errors import ModelFileError, UsageError
from linnaeus.features import Words
from linnaeus.learners.label_tree import LabelTree
from linnaeus.model.file import state_of
from linnaeus.recipes.tuning import Tuning
from linnaeus.store.states import pack_strings
from linnaeus.types import Arrays, State

COUNT = 40
ROWS = [(f"word{i} {form} word{i % 7}x", f"label {i:02d}") for i in range(COUNT) for form in ("the", "a", "one")]
TEXTS = ["word3 the word3x", "a word17", "", "nothing known"]


def trained(**settings: Any) -> Model:
    learner = LabelTree(**{"leaf": 4, "width": 4, **settings})
    return Recipe(task="many", features=Words(), learner=learner, tuning=Tuning(strengths=(1.0,), folds=1)).fit(ROWS)


@pytest.fixture(scope="module")
def model() -> Model:
    return trained()


@pytest.fixture(scope="module")
def taxonomy() -> Model:
    rows = [(text, f"group {int(label[-2:]) % 5}/{label}") for text, label in ROWS]
    learner = LabelTree(shape="/")
    return Recipe(task="many", features=Words(), learner=learner, tuning=Tuning(strengths=(1.0,), folds=1)).fit(rows)


@pytest.fixture
def small_is_large(monkeypatch: pytest.MonkeyPatch) -> None:
    """Files of a few kilobytes are stored and opened as large ones are."""
    monkeypatch.setattr("linnaeus.learners.label_tree.fitted.MAPPED", 0)
    monkeypatch.setattr("linnaeus.store.file.VERIFY_LIMIT", 0)


@pytest.fixture
def mapped(model: Model, small_is_large: None, tmp_path: Path) -> Path:
    model.save(tmp_path / "m.lin")
    return tmp_path / "m.lin"


def answers(model: Model) -> tuple[Any, ...]:
    return model.predict(TEXTS).tolist(), model.rank(TEXTS, 5), model.explain(TEXTS[0]).to_json()


# Small and mapped files


def test_a_small_file_answers_as_the_model(model: Model, tmp_path: Path) -> None:
    model.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin", verify=True)
    assert answers(again) == answers(model)
    again.save(tmp_path / "n.lin")
    assert (tmp_path / "m.lin").read_bytes() == (tmp_path / "n.lin").read_bytes()


@pytest.mark.parametrize("how", [{"trees": 3}, {"bits": 16}, {"leaf": 400}, {"shape": "huffman"}], ids=str)
def test_every_form_is_restored_with_the_same_bits(how: dict[str, Any], tmp_path: Path) -> None:
    made = trained(**how)
    made.save(tmp_path / "m.lin")
    assert answers(Model.load(tmp_path / "m.lin")) == answers(made)


def test_a_taxonomy_is_restored(taxonomy: Model, tmp_path: Path) -> None:
    taxonomy.save(tmp_path / "m.lin")
    again = Model.load(tmp_path / "m.lin")
    assert again.body.nodes == taxonomy.body.nodes
    assert again.predict(TEXTS, "risk=0.2").tolist() == taxonomy.predict(TEXTS, "risk=0.2").tolist()


def test_a_mapped_file_answers_as_the_model(model: Model, mapped: Path) -> None:
    found = linnaeus.load(mapped)
    assert found.body.guards
    assert answers(found) == answers(model)
    linnaeus.load(mapped, verify=True)
    linnaeus.load(mapped, verify=False).predict(TEXTS)


def test_a_mapped_model_is_copied_and_saved_as_any(model: Model, mapped: Path, tmp_path: Path) -> None:
    found = linnaeus.load(mapped)
    for copied in (pickle.loads(pickle.dumps(found)), copy.deepcopy(found)):
        assert answers(copied) == answers(model)
    found.save(tmp_path / "n.lin")
    assert mapped.read_bytes() == (tmp_path / "n.lin").read_bytes()


def test_a_mapped_model_learns_more(mapped: Path) -> None:
    found = linnaeus.load(mapped).updated([("word3 word17 word0x word1x", "new label")] * 3)
    assert found.predict(["word3 word17 word0x word1x", "a word29"]).tolist() == ["new label", "label 29"]


def damage(path: Path, name: str, at: int = -1) -> None:
    """Flip a bit of a tensor, with digests of blocks that say otherwise."""
    content = bytearray(path.read_bytes())
    sound = store.load(path, verify=False).tensors[name].tobytes()
    content[content.index(sound) + at % len(sound)] ^= 0x10
    path.write_bytes(content)


@pytest.mark.parametrize("name", ["values", "columns", "lanes", "spots"])
def test_damaged_weights_are_found_by_the_first_text_that_needs_them(mapped: Path, name: str) -> None:
    damage(mapped, f"body.0.{name}")  # in the chunk of the last node
    found = linnaeus.load(mapped)
    last = found.body.trees[0].targets[-1]
    text = f"word{~last} the word{~last % 7}x"
    uses: list[Callable[[], object]] = [
        lambda: found.predict([text]),
        lambda: found.classify(text),
        lambda: found.explain(text),
        lambda: pickle.dumps(found),
        lambda: found.updated(ROWS[:1]),
        lambda: found.save(mapped.with_name("copy.lin")),
    ]
    for use in uses:
        with pytest.raises(ModelFileError, match="does not match its digest"):
            use()
    with pytest.raises(ModelFileError, match="digest"):
        linnaeus.load(mapped, verify=True)


@pytest.mark.parametrize("name", ["values", "columns", "lanes", "spots"])
def test_damage_is_found_where_a_label_that_no_text_leads_to_is_explained(
    small_is_large: None, tmp_path: Path, name: str
) -> None:
    trained(beam=1).save(tmp_path / "m.lin")
    damage(tmp_path / "m.lin", f"body.0.{name}")  # in the chunk of the last node
    found = linnaeus.load(tmp_path / "m.lin")
    tree, numbers = found.body.trees[0], found.body.numbers
    first, last = (str(found.many[int(numbers[~label])]) for label in (tree.targets[tree.targets < 0][[0, -1]]))
    text = next(text for text, label in ROWS if label == first)
    assert found.explain(text, classes=[first]).predicted == (first,)
    with pytest.raises(ModelFileError, match="does not match its digest; restore the file"):
        found.explain(text, classes=[last])


@pytest.mark.parametrize("name", ["targets", "biases", "starts", "scales"])
def test_damage_elsewhere_is_found_when_the_file_is_opened(mapped: Path, name: str) -> None:
    damage(mapped, f"body.0.{name}")
    with pytest.raises(ModelFileError, match="digest"):
        linnaeus.load(mapped)


def test_a_damaged_name_is_found_when_it_is_read(mapped: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("linnaeus.store.blocks.BLOCK", 1 << 14)
    damage(mapped, "body.names.bytes")
    found = linnaeus.load(mapped)
    with pytest.raises(ModelFileError, match="a block does not match its digest"):
        found.predict(TEXTS)
    with pytest.raises(ModelFileError, match="digest"):
        found.many.array()


@pytest.mark.skipif(os.name == "nt", reason="there, files are read")
def test_a_file_that_is_cut_while_its_model_is_in_use(mapped: Path) -> None:
    found = linnaeus.load(mapped)
    found.predict(TEXTS)
    os.truncate(mapped, 4096)
    for use in (lambda: found.predict(TEXTS), lambda: found.explain(TEXTS[0]), lambda: found.body.verify()):
        with pytest.raises(ModelFileError, match="was truncated while in use"):
            use()


def test_inspect_says_that_weights_were_not_checked(mapped: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["inspect", str(mapped)]) == 0
    assert "each block is checked when it is first used" in " ".join(capsys.readouterr().out.split())
    assert main(["inspect", str(mapped), "--verify"]) == 0
    assert "all tensors were checked" in " ".join(capsys.readouterr().out.split())
    damage(mapped, "body.0.values")
    assert main(["inspect", str(mapped), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["label_count"] == COUNT
    assert main(["inspect", str(mapped), "--verify"]) == 4


# Hostile files


def changed(array: np.ndarray, **values: Any) -> np.ndarray:
    """The array in which `first`, `last` or `all` of its numbers are others."""
    found = array.copy()
    at = {"first": slice(0, 1), "last": slice(-1, None), "all": slice(None)}
    for name, value in values.items():
        found[at[name]] = value
    return found


def tensors_of_strangers(sound: Arrays) -> dict[str, Arrays]:
    """What is wrong with a tree, and its tensors."""
    part = {name.removeprefix("body.0."): array for name, array in sound.items() if name.startswith("body.0.")}
    targets, starts, biases = part["targets"], part["starts"], part["biases"]
    lanes, begins, firsts, scales = part["lanes"], part["begins"], part["firsts"], part["scales"]
    inner = int((targets >= 0).sum())
    own: dict[str, Arrays] = {
        "a child that leads back": {"targets": changed(targets, first=0)},
        "a child that leads to its own node": {"targets": np.where(np.arange(len(targets)) == inner - 1, 1, targets)},
        "a child outside the tree": {"targets": changed(targets, first=len(scales))},
        "a child far outside the tree": {"targets": changed(targets, first=2**31 - 1)},
        "a label outside the tree": {"targets": changed(targets, last=~COUNT)},
        "a label far outside the tree": {"targets": changed(targets, last=-(2**31))},
        "a label twice": {"targets": changed(targets, last=targets[-2])},
        "a label above a node": {"targets": changed(targets, first=targets[-1])},
        "a node below a label": {"targets": changed(targets, last=len(scales) - 1)},
        "a node with two parents": {"targets": np.where(np.arange(len(targets)) == 1, targets[0], targets)},
        "children all the same": {"targets": np.zeros_like(targets)},
        "one child fewer": {"targets": targets[:-1]},
        "one bias fewer": {"biases": biases[:-1]},
        "a bias that is not a number": {"biases": changed(biases, first=np.nan)},
        "an endless bias": {"biases": changed(biases, last=np.inf)},
        "a scale that is not a number": {"scales": changed(scales, last=np.nan)},
        "a huge scale": {"scales": changed(scales, last=3e38)},
        "no scales": {"scales": scales[:0]},
        "lanes beyond the children": {"lanes": changed(lanes, last=255)},
        "lanes beyond the children everywhere": {"lanes": changed(lanes, all=200)},
        "wide lanes beyond the children": {"lanes": lanes.astype(np.uint16) + np.uint16(60_000)},
        "values missing": {"values": part["values"][:-1]},
        "falling offsets of children": {"starts": starts[::-1].copy()},
        "falling offsets of columns": {"firsts": changed(firsts, first=firsts[-1])},
        "falling offsets of values": {"begins": np.concatenate([begins[:-2], begins[-2:][::-1]])},
        "negative offsets": {"starts": changed(starts, first=-1)},
        "offsets beyond the children": {"starts": changed(starts, last=len(targets) + 1)},
        "offsets beyond the values": {"begins": changed(begins, last=len(lanes) + 9)},
        "huge offsets": {"begins": changed(begins, last=2**62), "firsts": changed(firsts, last=2**62)},
        "no offsets": {"starts": starts[:0]},
        "no nodes": {"starts": starts[:1], "firsts": firsts[:1], "begins": begins[:1], "scales": scales[:0]},
    }
    if "gaps" in part:
        gaps = part["gaps"]
        own |= {
            "a gap that is cut off": {"gaps": changed(gaps, last=255)},
            "gaps without end": {"gaps": changed(gaps, all=255)},
            "gaps of nothing": {"gaps": changed(gaps, all=0)},
            "large gaps": {"gaps": changed(gaps, all=127)},
            "one gap fewer": {"gaps": gaps[:-1]},
            "no gaps": {"gaps": gaps[:0]},
            "all values marked": {"marks": changed(part["marks"], all=255)},
            "no value marked": {"marks": changed(part["marks"], all=0)},
            "marks missing": {"marks": part["marks"][:-1]},
        }
    else:
        columns, spots = part["columns"], part["spots"]
        own |= {
            "columns outside the features": {"columns": changed(columns, all=2**30)},
            "negative columns": {"columns": changed(columns, all=-5)},
            "columns that fall": {"columns": columns[::-1].copy()},
            "one column fewer": {"columns": columns[:-1]},
            "spots outside of their nodes": {"spots": changed(spots, all=2**32 - 1)},
            "spots that fall": {"spots": spots[::-1].copy()},
            "digests missing": {"digests": part["digests"][:-1]},
            "other digests": {"digests": part["digests"] + np.uint64(1)},
        }
    for name, array in part.items():
        others = np.int32 if array.dtype != np.int32 else np.int64
        own |= {f"{name} of another type": {name: array.astype(others)}, f"{name} as a matrix": {name: array[None]}}
        own[f"{name} lost"] = {name: None}  # type: ignore[dict-item]
    found = {name: {f"body.0.{part}": array for part, array in change.items()} for name, change in own.items()}
    counts, offsets = sound["body.counts"], sound["body.names.offsets"]
    found |= {
        "counts of fewer labels": {"body.counts": counts[:-1]},
        "negative counts": {"body.counts": changed(counts, last=-1)},
        "counts of more rows than there were": {"body.counts": changed(counts, last=2**31 - 1)},
        "counts of another type": {"body.counts": counts.astype(np.int64)},
        "no counts": {"body.counts": None},  # type: ignore[dict-item]
        "numbers of others": {"body.numbers": changed(sound["body.numbers"], first=2**31 - 1)},
        "numbers twice": {"body.numbers": changed(sound["body.numbers"], all=3)},
        "negative numbers": {"body.numbers": changed(sound["body.numbers"], all=-3)},
        "fewer numbers": {"body.numbers": sound["body.numbers"][:-1]},
        "no numbers": {"body.numbers": None},  # type: ignore[dict-item]
        "a name more": pack_strings("body.names", [str(i) for i in range(COUNT + 1)]),
        "a name fewer": pack_strings("body.names", [str(i) for i in range(COUNT - 1)]),
        "no names": {"body.names.offsets": offsets[:0]},
        "names of another type": {"body.names.offsets": offsets.astype(np.int32)},
        "names of numbers with two axes": {
            "body.names.offsets": None,  # type: ignore[dict-item]
            "body.names.numbers": np.zeros((COUNT, 2), np.int64),
        },
        "common columns that fall": {"body.common.columns": sound["body.common.columns"][::-1].copy()},
        "common columns outside": {"body.common.columns": changed(sound["body.common.columns"], last=2**31 - 1)},
        "fewer common values": {"body.common.values": sound["body.common.values"][:-1]},
        "stops of two columns": {"body.stops": sound["body.stops"][:, :2]},
        "no stops": {"body.stops": None},  # type: ignore[dict-item]
        "names of too few nodes": pack_strings("body.nodes", ["", "a"]),
    }
    return found


def manifests_of_strangers() -> dict[str, dict[str, Any]]:
    """What is wrong with the entries of a tree, by path."""
    return {
        "a curve of two numbers": {"curve": [1.0, 0.0]},
        "a curve of four numbers": {"curve": [1.0, 0.0, 0.0, 0.0]},
        "a curve of words": {"curve": ["a", "b", "c"]},
        "a curve of whole numbers": {"curve": [1, 2, 3]},
        "a curve that is a number": {"curve": 3},
        "no trees": {"trees": []},
        "trees that are a number": {"trees": 1},
        "a tree that is a number": {"trees": [1]},
        "a tree more": {"trees": [{"width": 3, "share": 0.5, "mapped": False}] * 2},
        "many trees": {"trees": [{"width": 3, "share": 0.5, "mapped": True}] * 100_000},
        "no width": {"trees/0/width": None},
        "a negative width": {"trees/0/width": -1},
        "a width of one": {"trees/0/width": 1},
        "a huge width": {"trees/0/width": 2**40},
        "a share above 1": {"trees/0/share": 1.5},
        "a share that is negative": {"trees/0/share": -0.5},
        "a share that is a word": {"trees/0/share": "all"},
        "mapped or not": {"trees/0/mapped": 1},
        "a beam of nothing": {"beam": 0},
        "a beam that is a word": {"beam": "wide"},
        "a huge beam": {"beam": 10**30},
        "a depth of nothing": {"depth": 0},
        "a huge depth": {"depth": 10**30},
        "a threshold that is a word": {"threshold": "half"},
        "another kind": {"kind": "bag"},
    }


def put(manifest: Any, route: str, value: Any) -> None:
    *path, last = [int(key) if key.isdigit() else key for key in route.split("/")]
    for key in path:
        manifest = manifest[key]
    manifest[last] = value


def strangers(sound: State) -> list[tuple[str, State]]:
    found = []
    for name, change in tensors_of_strangers(sound.tensors).items():
        tensors = {key: array for key, array in {**sound.tensors, **change}.items() if array is not None}
        found.append((name, State(sound.manifest, tensors)))
    for name, entries in manifests_of_strangers().items():
        manifest = copy.deepcopy(sound.manifest)
        for route, value in entries.items():
            put(manifest["body"], route, value)
        found.append((name, State(manifest, sound.tensors)))
    return found


def refused(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """What the command line says of a bad file, which no command can use."""
    assert main(["predict", str(path), TEXTS[0]]) == 4
    said = capsys.readouterr().err.strip()
    assert said.startswith("linnaeus: error: ")
    assert said.endswith(".")
    assert "\n" not in said
    assert len(said) < 400
    return said


@pytest.mark.parametrize("form", ["small", "mapped"])
def test_trees_of_strangers_are_refused_with_a_sentence(
    form: str, model: Model, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if form == "mapped":
        monkeypatch.setattr("linnaeus.learners.label_tree.fitted.MAPPED", 0)
    states = strangers(state_of(model))
    assert len(states) > 100
    path, usable = tmp_path / "m.lin", []
    for name, state in states:
        path.write_bytes(file_of(state))
        with np.errstate(all="ignore"):
            try:
                found = Model.load(path)
            except ModelFileError:
                refused(path, capsys)
                continue
            assert form == "mapped", name  # nodes are checked when they are used
            with suppress(ModelFileError):
                found.predict([text for text, _ in ROWS])
                usable.append(name)
            with pytest.raises(ModelFileError):
                found.body.verify()
            with pytest.raises(ModelFileError):
                found.updated(ROWS[:1])
            with suppress(ModelFileError, UsageError):
                found.explain(ROWS[0][0], classes=["label 00", "label 39"]).to_json()
    assert set(usable) <= {"a label twice", "a label above a node", "numbers twice"}


def test_two_trees_of_different_features_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    state = state_of(trained(trees=2))
    state.manifest["body"]["trees"][1]["width"] += 1
    (tmp_path / "m.lin").write_bytes(file_of(state))
    assert "features" in refused(tmp_path / "m.lin", capsys)


def test_a_tree_is_refused_where_its_task_has_none(model: Model, tmp_path: Path) -> None:
    state = state_of(model)
    classes = Recipe(features=Words()).fit(read(ROWS))
    for mixed in (
        State({**state.manifest, "task": {"kind": "classify"}}, state.tensors),
        State({**state.manifest, "body": None}, state.tensors),
        State({**state_of(classes).manifest, "task": {"kind": "many"}}, state_of(classes).tensors),
    ):
        (tmp_path / "m.lin").write_bytes(file_of(mixed))
        with pytest.raises(ModelFileError):
            Model.load(tmp_path / "m.lin")
