"""Files of fastText: what they hold, and a sentence for each file that is damaged or is something else."""

from __future__ import annotations

import struct
from contextlib import suppress

import numpy as np
import pytest
from tests.fasttext_files import LABELS, WORDS, Made

from linnaeus.errors import MachineError, ModelFileError
from linnaeus.store.fasttext import is_fasttext, read_fasttext

WHOLE = Made("hs", form="norms", minn=2, maxn=3, bucket=20, kept={4: 1, 2: 0}, dim=4)


def read(tmp_path, raw):
    (tmp_path / "m.bin").write_bytes(raw)
    return read_fasttext(tmp_path / "m.bin")


def test_it_holds_what_was_written(tmp_path):
    found = read(tmp_path, WHOLE.raw())
    assert is_fasttext(tmp_path / "m.bin")
    assert (found.settings.dim, found.settings.minn, found.settings.bucket) == (4, 2, 20)
    assert found.words.data.tobytes() == "".join(WORDS).encode()
    assert [label.decode() for label in found.labels] == [f"__label__{label}" for label in LABELS]
    assert found.counts.tolist() == WHOLE.counts
    assert [part.tolist() for part in found.pruned] == [[2, 4], [0, 1]]
    rows = np.arange(len(found.inputs))
    assert np.array_equal(found.inputs.take(rows), WHOLE.inputs.rows * WHOLE.inputs.norms[:, None])


def test_version_eleven_has_no_subwords(tmp_path):
    assert read(tmp_path, Made(minn=2, maxn=3, bucket=5).raw(version=11)).settings.maxn == 0


def test_every_cut_is_a_sentence(tmp_path):
    raw = WHOLE.raw()
    for size in [*range(400), *range(400, len(raw), 97), len(raw) - 1]:
        with pytest.raises(ModelFileError, match=r"\.$"):
            read(tmp_path, raw[:size])


def test_every_changed_byte_is_read_or_refused(tmp_path):
    raw, rng = WHOLE.raw(), np.random.default_rng(0)
    places = [*range(360), *rng.integers(360, len(raw), 200).tolist()]
    for at in places:
        changed = bytearray(raw)
        changed[at] ^= int(rng.integers(1, 256))
        with suppress(ModelFileError):
            read(tmp_path, bytes(changed))


@pytest.mark.parametrize("what", ["words", "labels", "kept", "rows", "columns", "codes"])
def test_sizes_that_a_file_cannot_hold_take_no_memory(what, tmp_path):
    raw = bytearray(WHOLE.raw())
    head = 8 + struct.calcsize("<12id")
    table = raw.index(WHOLE.inputs.raw[:25])
    form, at = {
        "words": ("<iii", head),
        "labels": ("<iii", head),
        "kept": ("<q", head + 20),
        "rows": ("<q", table + 1),
        "columns": ("<q", table + 9),
        "codes": ("<i", table + 17),
    }[what]
    large = {"words": (2**31 - 1, 2**31 - 5, 4), "labels": (2**31 - 1, 8, 2**31 - 9)}.get(what)
    large = large or ((2**31 - 1,) if form == "<i" else (2**62,))
    struct.pack_into(form, raw, at, *large)
    with pytest.raises(ModelFileError, match="damaged"):
        read(tmp_path, bytes(raw))


def test_what_is_something_else(tmp_path):
    with pytest.raises(ModelFileError, match=r"is not a model of fastText; give a \.bin or \.ftz file"):
        read(tmp_path, b"word 0.1 0.2\n" * 10)
    with pytest.raises(ModelFileError, match="version 13"):
        read(tmp_path, Made().raw(version=13))
    with pytest.raises(ModelFileError, match="word vectors, not a classifier"):
        read(tmp_path, Made().raw(model=2))
    with pytest.raises(ModelFileError, match="extra bytes"):
        read(tmp_path, Made().raw() + b"\0")
    with pytest.raises(ModelFileError, match="no model file"):
        read_fasttext(tmp_path / "nowhere.bin")
    with pytest.raises((ModelFileError, MachineError), match="directory"):
        read_fasttext(tmp_path)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_weights_that_are_not_finite(value, tmp_path):
    made = Made()
    raw = made.raw()
    changed = raw.replace(made.outputs.rows[0].tobytes(), np.full(made.dim, value, np.float32).tobytes())
    with pytest.raises(ModelFileError, match="finite"):
        read(tmp_path, changed)
