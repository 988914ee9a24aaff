"""The feature hash is fixed for ever: a model that was saved finds its hashed columns again, on every machine."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels import UNITS, Plan, hashes, reference
from linnaeus.kernels.hashes import GAP, hash_join

LONG = b"the quick brown fox jumps over the lazy dog and runs away from all of the hounds that follow it so f"

LENGTHS = {
    0: 0xC9D874CA57D9E055,
    1: 0xFF2C0FB77B752DCB,
    7: 0xF27CE66332D465C5,
    8: 0x8493B89302E21649,
    9: 0x710C13F0FE23C48C,
    15: 0x6F06ECE57D817900,
    16: 0x7FAAEECB3ABE590C,
    17: 0x8C17DF0D077CDFA2,
    31: 0xDB944A4B8283B0A6,
    32: 0x7D1B2A33C81D4D2A,
    33: 0xCA9EDCE501056FA5,
    64: 0x8DBCF0B786C89E19,
    65: 0xEA91322B75A194B3,
    100: 0x3BB2D9B32CE3C2DB,
}
"""Beginnings of LONG, by the number of bytes."""

STRINGS = {
    b"x": 0x0A381E13873D4E89,
    b"\0": 0x2A00ED70D40265A3,
    b"\0" * 8: 0xBA17A6FE526C00E8,
    b"\0" * 9: 0x412C54C335EB9669,
    b"\0" * 16: 0x4BB3AE1F87608BC1,
    b"\xff" * 8: 0xB84798F96A703C94,
    b"\xff" * 16: 0x6143F2911D22C002,
    b"\xff\xfe\x80": 0x90B97217A672BE34,
    "é".encode(): 0x92030391C876B084,
    "Straße".encode(): 0x16F74CDEA39A4C95,
    "naïveté".encode(): 0x16938F65D0F8A2AD,
    "東京都".encode(): 0x1A913640822F5D74,
    "Владивосток".encode(): 0x649CE4B3284FCCC5,
    "😀".encode(): 0x2204C74B076B5EB5,
}

GRAMS = {
    "not good": 0xE5049431262D3037,
    "good not": 0x02003EB006A79BC0,
    "a b c": 0x0D42A31D15741250,
    "new york stock exchange": 0xE08D07382F6F3CAD,
    "東京 京都": 0xA79ABE3CDF517A05,
}
"""Runs of tokens."""

SKIPS = {
    ("not", "good"): 0x15CA0B51D0B6538A,
    ("a", "a"): 0x2CEAE19FF9A116CD,
    ("東京", "京都"): 0x943DDD9A5B74207E,
}
"""Pairs with other words between them."""

COLUMNS = {
    "t": (0x52DCB, -1),
    "the qui": (0x465C5, -1),
    "the quick": (0x3C48C, 1),
    "x": (0xD4E89, 1),
    "é": (0x6B084, -1),
    "東京都": (0xF5D74, 1),
    "Владивосток": (0xFCCC5, 1),
    "😀": (0xB5EB5, 1),
}
"""Column among 2^20, and sign, of texts that are one token."""

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])


def row(side: ModuleType, text: str, plan: Plan, bits: int, signed: bool) -> list[tuple[int, float]]:
    raw = np.frombuffer(text.encode(), np.uint8)
    indptr, columns, values = side.hash_terms(raw, np.array([0, len(raw)], np.int64), plan, bits, signed, 1)
    assert indptr.tolist() == [0, len(columns)]
    return list(zip(columns.tolist(), values.tolist(), strict=True))


def place(value: int, bits: int) -> tuple[int, float]:
    return value & ((1 << bits) - 1), -1.0 if value >> 63 else 1.0


def test_the_constants() -> None:
    hashing = vars(hashes)
    assert [hashing[name] for name in ("K0", "K1", "K2", "K3", "GAP")] == [
        0x9E3779B97F4A7C15, 0xD6E8FEB86659FD93, 0xA0761D6478BD642F, 0xE7037ED1A0B428DB, 0xD6E8FEB86659FD93,
    ]  # fmt: skip


@each_side
@pytest.mark.parametrize("n", LENGTHS)
def test_strings_of_every_length(side: ModuleType, n: int) -> None:
    assert len(LONG) == 100
    assert side.hash_bytes(LONG[:n]) == LENGTHS[n]


@each_side
@pytest.mark.parametrize("text", STRINGS)
def test_strings_of_every_kind(side: ModuleType, text: bytes) -> None:
    assert side.hash_bytes(text) == STRINGS[text]


@pytest.mark.parametrize("text", GRAMS)
def test_the_join_of_tokens(text: str) -> None:
    first, *more = (reference.hash_bytes(token.encode()) for token in text.split())
    for token in more:
        first = hash_join(first, token)
    assert first == GRAMS[text]


@pytest.mark.parametrize("pair", SKIPS)
def test_the_join_over_a_gap(pair: tuple[str, str]) -> None:
    first, last = (reference.hash_bytes(token.encode()) for token in pair)
    assert hash_join(hash_join(first, GAP), last) == SKIPS[pair]


@each_side
@pytest.mark.parametrize("bits", [20, 30])
@pytest.mark.parametrize("text", GRAMS)
def test_columns_and_signs_of_runs(side: ModuleType, text: str, bits: int) -> None:
    n = len(text.split())
    plan = Plan(UNITS["words"], 0, 2, n, n)
    assert row(side, text, plan, bits, True) == [place(GRAMS[text], bits)]


@each_side
@pytest.mark.parametrize("bits", [20, 30])
@pytest.mark.parametrize("pair", SKIPS)
def test_columns_and_signs_of_pairs_with_a_gap(side: ModuleType, pair: tuple[str, str], bits: int) -> None:
    plan = Plan(UNITS["skips"], 0, 2, 2, 2, 1)
    assert row(side, f"{pair[0]} xx {pair[1]}", plan, bits, True) == [place(SKIPS[pair], bits)]


@each_side
@pytest.mark.parametrize("text", COLUMNS)
def test_columns_and_signs_of_20_bits(side: ModuleType, text: str) -> None:
    column, sign = COLUMNS[text]
    n = len(text)
    across = Plan(UNITS["across"], 0, 2, n, n)
    assert row(side, text, across, 20, True) == [(column, float(sign))]
    assert row(side, text, across, 20, False) == [(column, 1.0)]
    if " " not in text:
        assert row(side, text, Plan(UNITS["words"], 0, 2, 1, 1), 20, True) == [(column, float(sign))]


@each_side
@pytest.mark.parametrize(("unit", "value"), [("inside", 0x6BFBAF9064B2E705), ("subwords", 0x4BA3A0B7431262F5)])
def test_the_marks_around_a_word_are_hashed_too(side: ModuleType, unit: str, value: int) -> None:
    assert row(side, "x", Plan(UNITS[unit], 0, 2, 3, 3), 20, True) == [place(value, 20)]
