"""Vectors of an encoder from a local folder: what they are, what is refused, and what a model file has of them."""

from __future__ import annotations

import json
import shutil
import socket
import sys
from pathlib import Path

import numpy as np
import pytest
from tests.encoders import PLACES, tiny_encoder

import linnaeus
from linnaeus import features, kernels
from linnaeus.cli.main import main
from linnaeus.errors import DataError, InputTypeError, LinnaeusWarning, MachineError, ModelFileError, UsageError
from linnaeus.features import TransformerVectors, Words
from linnaeus.features.restore import restore
from linnaeus.neural import pretrained
from linnaeus.types import State

torch = pytest.importorskip("torch", reason="PyTorch is not installed")
transformers = pytest.importorskip("transformers", reason="transformers is not installed")

TEXTS = ["good weather", "the weather is bad", "", "good", "rain and more rain", "good good good"]
LABELS = ["yes", "no", "no", "yes", "no", "yes"]


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return tiny_encoder(tmp_path_factory.mktemp("made") / "encoder")


@pytest.fixture(autouse=True)
def nothing_in_memory():
    pretrained.forget()


@pytest.fixture
def folder(made, tmp_path):
    return shutil.copytree(made, tmp_path / "encoder")


def dense(fitted, texts=TEXTS):
    return fitted.rows(texts).to_scipy().toarray()


@pytest.mark.parametrize(
    ("pool", "by_hand"), [("mean", lambda h: h.mean(0)), ("first", lambda h: h[0]), ("max", lambda h: h.max(0))]
)
def test_rows_are_the_pooled_vectors_of_the_encoder(folder, pool, by_hand):
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
    network = transformers.AutoModel.from_pretrained(folder, local_files_only=True).eval()
    found = dense(TransformerVectors(folder, pool).fit(TEXTS))
    for text, row in zip(TEXTS, found, strict=True):
        with torch.no_grad():
            hidden = network(**tokenizer(text, return_tensors="pt")).last_hidden_state[0].numpy()
        assert row == pytest.approx(by_hand(hidden), abs=1e-5)


def test_bits_do_not_depend_on_threads_or_neighbors(folder):
    fitted = TransformerVectors(folder).fit(TEXTS)
    rows = {}
    for threads in (1, 3):
        with kernels.threads(threads):
            rows[threads] = dense(fitted, [*TEXTS, *TEXTS[::-1]])
    assert rows[1].tobytes() == rows[3].tobytes()
    assert rows[1][: len(TEXTS)].tobytes() == rows[1][len(TEXTS) :][::-1].tobytes()


def test_settings_of_pytorch_are_as_before(folder):
    before = torch.get_num_threads(), torch.random.get_rng_state()
    dense(TransformerVectors(folder).fit(TEXTS))
    assert torch.get_num_threads() == before[0]
    assert torch.equal(torch.random.get_rng_state(), before[1])


def test_long_texts_are_cut_and_counted(folder):
    with pytest.warns(LinnaeusWarning, match=r"2 of 3 texts have more than 4 tokens.*raise length"):
        fitted = TransformerVectors(folder, length=4).fit(["good good good", "abcdef", "good"])
    assert dense(fitted, ["good good good"]).tobytes() == dense(fitted, ["good good weather"]).tobytes()


def test_no_more_is_read_than_the_encoder_takes(folder):
    with pytest.warns(LinnaeusWarning, match=f"1 of 1 texts have more than {PLACES} tokens.*reads no more"):
        fitted = TransformerVectors(folder, length=1000).fit(["good " * 100])
    assert fitted.length == PLACES
    assert np.isfinite(dense(fitted, ["good " * 100])).all()


def test_nothing_is_downloaded_or_printed(folder, monkeypatch, capfd):
    def refuse(*_):
        raise AssertionError("it looked for the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    dense(TransformerVectors(folder).fit(["good", "good " * 20]))
    assert capfd.readouterr() == ("", "")


def removed(folder, *names):
    for name in names:
        (folder / name).unlink()


def pickled(folder):
    removed(folder, "model.safetensors")
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04.")


def without_a_layer(folder):
    from safetensors.torch import load_file, save_file

    kept = {name: x for name, x in load_file(folder / "model.safetensors").items() if "encoder.layer.1" not in name}
    save_file(kept, folder / "model.safetensors", {"format": "pt"})


def with_own_code(folder):
    settings = {"model_type": "mine", "auto_map": {"AutoConfig": "mine.Config", "AutoModel": "mine.Model"}}
    (folder / "config.json").write_text(json.dumps(settings), encoding="utf-8")
    (folder / "mine.py").write_text("raise SystemExit('it ran')", encoding="utf-8")


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (shutil.rmtree, "There is no folder"),
        (lambda folder: removed(folder, "config.json"), "has no config.json"),
        (lambda folder: removed(folder, "vocab.txt"), "has no tokenizer"),
        (lambda folder: removed(folder, "model.safetensors"), "has no model.safetensors"),
        (pickled, "are pickled"),
        (lambda folder: (folder / "model.safetensors").write_bytes(b"nonsense"), "cannot be read"),
        (lambda folder: (folder / "config.json").write_text("{"), "cannot be read"),
        (without_a_layer, "lack 'encoder.layer.1"),
        (with_own_code, "cannot be read"),
    ],
)
def test_what_is_no_encoder_gets_one_sentence(folder, spoil, said):
    spoil(folder)
    with pytest.raises(DataError, match=said):
        TransformerVectors(folder).fit(TEXTS)


def test_settings_are_checked():
    with pytest.raises(UsageError, match="pool"):
        TransformerVectors("encoder", "sum")
    with pytest.raises(UsageError, match="length"):
        TransformerVectors("encoder", length=0)
    with pytest.raises(UsageError, match="local folder"):
        TransformerVectors("//server/share")
    with pytest.raises(InputTypeError, match="folder"):
        TransformerVectors(7)
    with pytest.raises(DataError, match="no encoder"):
        TransformerVectors().fit(TEXTS)


def test_a_length_without_room_for_a_text(folder):
    with pytest.raises(UsageError, match="adds 2 tokens"):
        TransformerVectors(folder, length=2).fit(TEXTS)


@pytest.mark.parametrize("name", ["torch", "transformers"])
def test_without_the_libraries_one_sentence_says_what_to_install(folder, name, monkeypatch):
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(MachineError, match=r"pip install 'linnaeus\["):
        TransformerVectors(folder).fit(TEXTS)


def trained(folder):
    recipe = linnaeus.Recipe(features=Words() | TransformerVectors(folder))
    return recipe.fit({"text": TEXTS, "label": LABELS})


def test_a_model_file_has_no_weights_and_wants_the_same_encoder(folder, tmp_path):
    model = trained(str(folder))
    expected = model.scores(TEXTS)
    model.save(tmp_path / "m.lin")
    assert (folder / "model.safetensors").read_bytes()[-200:] not in (tmp_path / "m.lin").read_bytes()
    assert linnaeus.load(tmp_path / "m.lin").scores(TEXTS).tobytes() == expected.tobytes()

    pretrained.forget()
    aside = folder.rename(tmp_path / "aside")
    back = linnaeus.load(tmp_path / "m.lin")
    with pytest.raises(DataError, match="There is no folder"):
        back.predict(TEXTS)
    tiny_encoder(folder, seed=1)
    with pytest.raises(ModelFileError, match="another encoder"):
        back.predict(TEXTS)
    shutil.rmtree(folder)
    aside.rename(folder)
    assert back.scores(TEXTS).tobytes() == expected.tobytes()


def test_a_prediction_is_explained_without_shares_of_single_numbers(folder):
    assert trained(folder).opaque
    assert str(trained(folder).explain("good weather"))


@pytest.mark.parametrize(
    "change",
    [
        {"folder": ""},
        {"folder": "a\0b"},
        {"folder": "//server/share"},
        {"folder": "\\\\server\\share"},
        {"digest": "0"},
        {"pool": "sum"},
        {"width": 0},
        {"width": 1 << 30},
        {"length": 0},
        {"length": "9"},
    ],
)
def test_damaged_states_are_refused(change):
    manifest = {
        "kind": "transformer_vectors",
        "folder": "a",
        "digest": "0" * 64,
        "width": 2,
        "pool": "max",
        "length": 9,
    }
    assert restore(State(manifest, {})).width == 2
    with pytest.raises(ModelFileError):
        restore(State({**manifest, **change}, {}))


def test_a_wrong_width_in_a_file_is_refused(folder):
    state = TransformerVectors(folder).fit(TEXTS).state()
    with pytest.raises(ModelFileError, match="15 numbers"):
        restore(State({**state.manifest, "width": 15}, {})).rows(TEXTS)


def test_saved_features_are_small(folder, tmp_path):
    features.save(tmp_path / "f.lin", TransformerVectors(folder).fit(TEXTS))
    assert (tmp_path / "f.lin").stat().st_size < 2000


def test_the_command_line_trains_with_a_recipe_file(folder, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = "".join(f"{text},{label}\n" for text, label in zip(TEXTS, LABELS, strict=True) if text) * 4
    Path("data.csv").write_text("text,label\n" + rows, encoding="utf-8")
    recipe = '[features]\nkind = "transformer_vectors"\nfolder = "encoder"\n[learner]\nkind = "linear"\nloss = "log"\n'
    Path("encoder.toml").write_text(recipe, encoding="utf-8")
    assert main(["train", "data.csv", "--recipe", "encoder.toml", "--test", "data.csv", "-q", "-o", "m.lin"]) == 0
    assert main(["predict", "m.lin", "good weather"]) == 0
    assert "yes" in capsys.readouterr().out
