"""Tables of a vocabulary that would lead a kernel outside are refused when a model is loaded."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.errors import ModelFileError
from linnaeus.features import Words, restore
from linnaeus.types import State

STATE = Words(ngrams=(1, 2)).fit(["extraordinarily long words", "and short ones", "long words"]).state()


def changed(name: str, value: np.ndarray) -> State:
    return State(STATE.manifest, {**STATE.tensors, name: value})


@pytest.mark.parametrize("name", ["token_slots", "pair_slots"])
def test_half_a_slot_too_many(name: str) -> None:
    with pytest.raises(ModelFileError, match="damaged"):
        restore(changed(name, np.append(STATE.tensors[name], np.uint64(0))))


@pytest.mark.parametrize("length", [1, 14, 16, 1000, (1 << 31) - 1])
def test_a_token_that_claims_another_length(length: int) -> None:
    slots = STATE.tensors["token_slots"].copy()
    long = np.flatnonzero(slots[1::2] >> np.uint64(63))[0]
    slots[2 * long + 1] = slots[2 * long + 1] & np.uint64(0xFFFFFFFF) | np.uint64((1 << 31 | length) << 32)
    with pytest.raises(ModelFileError, match="damaged"):
        restore(changed("token_slots", slots))


def test_the_tables_as_they_are() -> None:
    assert restore(STATE).rows(["long words"]).data.tolist() == [1, 1, 1]
