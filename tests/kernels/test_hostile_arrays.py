"""Arrays no honest caller makes: every kernel and every twin refuses them, and none steps outside."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import UNITS, Plan, reference

WORDS = Plan(UNITS["words"], 1, 0, 1, 2)
TEXT = np.frombuffer(b"red green blue", np.uint8)
FINE = np.array([0, 4, 14], np.int64)
each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])


def vocabulary(side: ModuleType) -> list[np.ndarray]:
    data, offsets = np.frombuffer(b"bluegreenred", np.uint8), np.array([0, 4, 9, 12], np.int64)
    pairs = np.array([2 << 32 | 1], np.uint64)
    slots = side.probe_tokens(data, offsets), side.probe_pairs(pairs, np.array([3], np.int32), 3)
    return [data, offsets, slots[0], np.arange(3, dtype=np.int32), slots[1]]


def index(side: ModuleType, data: np.ndarray, offsets: np.ndarray, plan: Plan = WORDS) -> object:
    return side.index_terms(data, offsets, plan, tuple(vocabulary(side)), (4, -1), 1)


CALLS = {
    "hash_terms": lambda side, data, offsets: side.hash_terms(data, offsets, WORDS, 20, True, 2),
    "index_terms": index,
    "TermCounter": lambda side, data, offsets: side.TermCounter(WORDS, True).add(data, offsets, 2),
    "tokens": lambda side, data, offsets: side.tokens(data, offsets, 1, 0),
    "flag_texts": lambda side, data, offsets: side.flag_texts(data, offsets, 2),
    "probe_tokens": lambda side, data, offsets: side.probe_tokens(data, offsets),
}
OFFSETS = {
    "descending": [0, 9, 4],
    "beyond the text": [0, 4, 15],
    "far beyond the text": [0, 1 << 62],
    "before the text": [-1, 4, 14],
    "the last one negative": [0, 4, -(1 << 63)],
}


@each_side
@pytest.mark.parametrize("offsets", OFFSETS.values(), ids=OFFSETS)
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_offsets_that_do_not_fit_are_refused(side: ModuleType, call, offsets) -> None:
    with pytest.raises(ValueError, match="offsets do not fit"):
        call(side, TEXT, np.array(offsets, np.int64))


@each_side
@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_no_offsets_are_no_texts(side: ModuleType, call) -> None:
    call(side, TEXT, np.zeros(0, np.int64))
    call(side, np.zeros(0, np.uint8), np.zeros(0, np.int64))
    call(side, np.zeros(0, np.uint8), np.zeros(1, np.int64))


PLANS = {
    "an unknown unit": Plan(5, 0, 0, 1, 1),
    "a negative unit": Plan(-1, 0, 0, 1, 1),
    "an unknown case": Plan(0, 3, 0, 1, 1),
    "an unknown tokenizer": Plan(0, 0, 6, 1, 1),
    "a negative tokenizer": Plan(2, 0, -7, 1, 1),
    "n-grams of nothing": Plan(1, 0, 2, 0, 2),
    "n-grams that end before they begin": Plan(0, 0, 0, 3, 2),
    "n-grams without end": Plan(0, 0, 0, 1, 2**31 - 1),
    "negative n-grams": Plan(0, 0, 0, -5, -2),
    "an enormous gap": Plan(4, 0, 0, 2, 2, 2**31 - 1),
    "a negative gap": Plan(4, 0, 0, 2, 2, -3),
    "skip-grams of one": Plan(4, 0, 0, 1, 1, 1),
    "skip-grams of three": Plan(4, 0, 0, 3, 3, 1),
    "characters of bytes": Plan(1, 0, 4, 3, 5),
    "subwords of bytes": Plan(3, 0, 4, 3, 5),
    "characters of marks": Plan(1, 0, 5, 3, 5),
}


@each_side
@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS)
def test_plans_out_of_range_are_refused(side: ModuleType, plan: Plan) -> None:
    with pytest.raises(ValueError, match="the plan"):
        side.hash_terms(TEXT, FINE, plan, 20, True, 1)
    with pytest.raises(ValueError, match="the plan"):
        side.TermCounter(plan, False)
    with pytest.raises(ValueError, match="the plan"):
        index(side, TEXT, FINE, plan)


@each_side
@pytest.mark.parametrize(("case", "tokenizer"), [(3, 0), (-1, 0), (0, 6), (0, -1)])
def test_tokens_of_unknown_kind_are_refused(side: ModuleType, case: int, tokenizer: int) -> None:
    with pytest.raises(ValueError, match="the plan"):
        side.tokens(TEXT, FINE, case, tokenizer)


@each_side
@pytest.mark.parametrize("bits", [-1, 0, 31, 64, 1000])
def test_bits_out_of_range_are_refused(side: ModuleType, bits: int) -> None:
    for signed in (True, False):
        with pytest.raises(ValueError, match="bits run from 1 to 30"):
            side.hash_terms(TEXT, FINE, WORDS, bits, signed, 1)


def cut(arrays: list[np.ndarray], which: int, size: int) -> list[np.ndarray]:
    return [array[:size] if i == which else array for i, array in enumerate(arrays)]


TABLES = {
    "no token slots": (2, 0),
    "half a token slot": (2, 31),
    "three token slots": (2, 6),
    "no pair slots": (4, 0),
    "half a pair slot": (4, 5),
    "five pair slots": (4, 10),
    "a column too few": (3, 2),
    "an offset too few": (1, 3),
    "no offsets": (1, 0),
}


@each_side
@pytest.mark.parametrize(("which", "size"), TABLES.values(), ids=TABLES)
def test_vocabularies_that_do_not_fit_are_refused(side: ModuleType, which: int, size: int) -> None:
    arrays = tuple(cut(vocabulary(side), which, size))
    with pytest.raises(ValueError, match="vocabulary do not fit"):
        side.index_terms(TEXT, FINE, WORDS, arrays, (4, -1), 1)


@each_side
@pytest.mark.parametrize("layout", [(4, 4), (4, 100), (-1, -1), (0, 0)])
def test_an_unknown_column_outside_is_refused(side: ModuleType, layout: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="outside the width"):
        side.index_terms(TEXT, FINE, WORDS, tuple(vocabulary(side)), layout, 1)


def counter(side: ModuleType, plan: Plan, record: bool = True) -> object:
    made = side.TermCounter(plan, record)
    made.add(TEXT, FINE, 1)
    return made


def replay(made: object, terms: int, layout: tuple[int, int], shift: int = 0) -> object:
    return made.replay(np.arange(terms, dtype=np.int32) + np.int32(shift), layout, 1)


@each_side
@pytest.mark.parametrize("plan", [WORDS, Plan(UNITS["inside"], 1, 2, 3, 5)], ids=["words", "characters"])
def test_a_counter_goes_one_way(side: ModuleType, plan: Plan) -> None:
    made = counter(side, plan)
    with pytest.raises(ValueError, match="replay: nothing is recorded"):
        replay(made, 0, (1, -1))
    counted = made.finish(1, 1)
    terms = len(counted[2]) + sum(len(order[0]) for order in counted[4])
    with pytest.raises(ValueError, match="takes no more texts"):
        made.add(TEXT, FINE, 1)
    with pytest.raises(ValueError, match="finished once"):
        made.finish(1, 1)
    assert replay(made, terms, (terms, -1))[0][-1] > 0
    with pytest.raises(ValueError, match="replay: nothing is recorded"):
        replay(made, terms, (terms, -1))


@each_side
def test_what_was_not_recorded_is_not_replayed(side: ModuleType) -> None:
    made = counter(side, WORDS, record=False)
    made.finish(1, 1)
    with pytest.raises(ValueError, match="replay: nothing is recorded"):
        replay(made, 5, (5, -1))


@each_side
@pytest.mark.parametrize(
    ("terms", "layout", "shift", "message"),
    [
        (3, (4, -1), 0, "a column for each term"),
        (5, (4, -1), 0, "a column for each term"),
        (4, (4, -1), 1, "a column is outside"),
        (4, (4, 4), 0, "the unknown column is outside"),
        (4, (-1, -1), -9, "the unknown column is outside"),
    ],
)
def test_a_replay_into_columns_that_do_not_fit_is_refused(side: ModuleType, terms, layout, shift, message) -> None:
    made = counter(side, WORDS)
    made.finish(1, 1)
    with pytest.raises(ValueError, match=message):
        replay(made, terms, layout, shift)


def labels(*found: int) -> np.ndarray:
    return np.array(found, np.int32)


@each_side
def test_labels_that_do_not_fit_are_refused(side: ModuleType) -> None:
    n = len(FINE) - 1
    made = side.TermCounter(WORDS, False)
    for given, k, message in (
        (labels(*range(n + 1)), n + 1, "a label for each text"),
        (labels(*range(n)), n - 1, "no class"),
        (labels(*[-1] * n), 2, "no class"),
        (labels(*[0] * n), 0, "the same k classes"),
        (labels(*[0] * n), 2**31 - 1, "the same k classes"),
    ):
        with pytest.raises(ValueError, match=message):
            made.add_labeled(TEXT, FINE, given, k, 1)
    made.add_labeled(TEXT, FINE, labels(*[1] * n), 2, 1)
    with pytest.raises(ValueError, match="the same k classes"):
        made.add_labeled(TEXT, FINE, labels(*[1] * n), 3, 1)
    with pytest.raises(ValueError, match="have labels"):
        made.add(TEXT, FINE, 1)
    for wrong in (side.TermCounter(WORDS, True), counter(side, WORDS, record=False)):
        with pytest.raises(ValueError, match="add_labeled"):
            wrong.add_labeled(TEXT, FINE, labels(*[0] * n), 2, 1)
    with pytest.raises(ValueError, match="only n-grams of words"):
        side.TermCounter(Plan(UNITS["inside"], 1, 2, 3, 5), False).add_labeled(TEXT, FINE, labels(*[0] * n), 2, 1)


@each_side
def test_a_tally_into_columns_that_do_not_fit_is_refused(side: ModuleType) -> None:
    made = side.TermCounter(WORDS, False)
    made.add_labeled(TEXT, FINE, labels(*[0] * (len(FINE) - 1)), 2, 1)
    columns = np.arange(4, dtype=np.int32)
    with pytest.raises(ValueError, match="counted by class and finished"):
        made.tally(columns, (4, -1))
    made.finish(1, 1)
    for wrong, layout, message in (
        (columns[1:], (4, -1), "a column for each term"),
        (columns + 1, (4, -1), "a column is outside"),
        (columns, (4, 4), "the unknown column is outside"),
        (columns - 9, (-1, -1), "the unknown column is outside"),
    ):
        with pytest.raises(ValueError, match=message):
            made.tally(np.ascontiguousarray(wrong), layout)
    assert made.tally(columns, (4, -1)).sum() > 0
    with pytest.raises(ValueError, match="counted by class and finished"):
        made.tally(columns, (4, -1))
    plain = counter(side, WORDS, record=False)
    plain.finish(1, 1)
    with pytest.raises(ValueError, match="counted by class and finished"):
        plain.tally(columns, (4, -1))


@each_side
def test_pairs_without_a_column_are_refused(side: ModuleType) -> None:
    with pytest.raises(ValueError):
        side.probe_pairs(np.arange(5, dtype=np.uint64), np.arange(4, dtype=np.int32), 0)


@each_side
@pytest.mark.parametrize("threads", [-5, 0, 5000])
def test_any_number_of_threads_will_do(side: ModuleType, threads: int) -> None:
    offsets = np.zeros(40_001, np.int64)
    offsets[-1] = len(TEXT)
    rows = side.hash_terms(TEXT, offsets, WORDS, 20, True, threads)
    assert rows[0].tolist() == [0] * 40_000 + [5]
