"""States by name in one file: what is kept is what was given, whatever its owner does with the arrays later."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.store import parts
from linnaeus.store.parts import PartsFile
from linnaeus.types import State


@pytest.mark.parametrize("share", [0.0, 1e9], ids=["written later", "written at once"])
def test_a_state_is_kept_as_it_was(tmp_path, monkeypatch, share):
    monkeypatch.setattr(parts, "SHARE", share or 1e-12)
    file, w = PartsFile(tmp_path / "work.part", "these data"), np.zeros(3)
    file.part("first").put(State({}, {"w": np.ones(2)}))
    file.part("second").put(State({}, {"w": w}))
    w += 1.0  # the solver goes on, and is interrupted
    file.write()
    again = PartsFile(tmp_path / "work.part", "these data")
    assert again.part("second").get().tensors["w"].tolist() == [0.0, 0.0, 0.0]
    assert again.part("first").get().tensors["w"].tolist() == [1.0, 1.0]
