"""The fused scorer against its twin, bit for bit; what it refuses; how it may be shared."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus import kernels
from linnaeus.kernels import CASES, TOKENIZERS, UNITS, Plan, reference

each_side = pytest.mark.parametrize("side", [kernels, reference], ids=["kernel", "twin"])
NO_FLOATS, NO_INTS = np.zeros(0, np.float32), np.zeros(0, np.int32)
LOG = np.concatenate([[0], 1 + np.log(np.arange(1, 50))]).astype(np.float32)
NONE = float("-inf")
CURVES = [(1e-3, NONE), (0.3, NONE), (9.0, NONE), (0.3, -2.0), (0.5, 3.0), (1e-3, 50.0), (9.0, -40.0), (1e-9, -1e9)]
TOKENS = [b"a", b"b", b"bb", b"long-ish words", b"\xc3\xa9", b" a", b"b ", b"<b"]


def vocabulary(tokens=TOKENS):
    """The tokens, each with a column but the second, and the pair (a, b) with the last column."""
    data = np.frombuffer(b"".join(tokens), np.uint8)
    offsets = np.cumsum([0] + [len(token) for token in tokens]).astype(np.int64)
    columns = np.array([0, -1, *range(1, len(tokens) - 1)], np.int32)
    pairs = np.array([0 << 32 | 1], np.uint64), np.array([len(tokens) - 1], np.int32)
    slots = kernels.probe_tokens(data, offsets), kernels.probe_pairs(*pairs, len(tokens))
    return data, offsets, slots[0], columns, slots[1]


def lay_out(texts: list[bytes]):
    offsets = np.cumsum([0] + [len(text) for text in texts]).astype(np.int64)
    return np.frombuffer(b"".join(texts), np.uint8), offsets


@st.composite
def plans(draw) -> Plan:
    unit = draw(st.sampled_from(list(UNITS)))
    case = draw(st.sampled_from(list(CASES.values())))
    edges = ["edges"] if unit in ("words", "skips") else []
    tokenizer = draw(st.sampled_from(["words", "scikit", "whitespace", *edges]))
    low, high = (2, 2) if unit == "skips" else sorted((draw(st.integers(1, 4)), draw(st.integers(1, 4))))
    return Plan(UNITS[unit], case, TOKENIZERS[tokenizer], low, high, draw(st.integers(1, 3)) if unit == "skips" else 0)


@st.composite
def parts(draw):
    source = draw(st.integers(0, 1))
    if draw(st.booleans()):
        return source, draw(plans()), None, (draw(st.integers(1, 6)), draw(st.integers(0, 1)))
    return source, draw(plans()), vocabulary(), (len(TOKENS) + 1, draw(st.sampled_from([-1, len(TOKENS)])))


def counted(part) -> int:
    return 1 << part[3][0] if part[2] is None else part[3][0]


@st.composite
def groups(draw):
    chosen = draw(st.lists(parts(), min_size=1, max_size=2))
    width = sum(map(counted, chosen))
    weights = np.linspace(-1, 2, width, dtype=np.float32) if draw(st.booleans()) else NO_FLOATS
    kept = NO_INTS
    if draw(st.booleans()):
        kept = np.full(width, -1, np.int32)
        kept[::2] = np.arange(len(kept[::2]))
    saturation = draw(st.sampled_from([None, (1.2, 0.75, 3.0), (0.5, 0.0, 1.0)]))
    table = NO_FLOATS if saturation else draw(st.sampled_from([NO_FLOATS, LOG]))
    return chosen, table, weights, kept, draw(st.integers(0, 2)), saturation


def columns_of(group) -> int:
    return int((group[3] >= 0).sum()) if len(group[3]) else sum(map(counted, group[0]))


@st.composite
def problems(draw):
    chosen = draw(st.lists(groups(), min_size=1, max_size=3))
    d, k = sum(map(columns_of, chosen)), draw(st.sampled_from([1, 2, 3, 5, 9, 33]))
    rng = np.random.default_rng(draw(st.integers(0, 9)))
    text = st.one_of(st.binary(max_size=20), st.text("ab B'é.\u4e2d\u3042", max_size=20).map(str.encode))
    texts = [draw(st.lists(text, min_size=3, max_size=3)) for _ in range(2)]
    return chosen, rng.normal(size=(d, k)).astype(np.float32), rng.normal(size=k), [lay_out(form) for form in texts]


@given(problems(), st.sampled_from([1, 2, 3, 8]))
def test_the_kernel_has_the_bits_of_its_twin(problem, threads) -> None:
    chosen, W, b, sources = problem
    ours, theirs = np.full((3, len(b)), np.nan), np.full((3, len(b)), np.nan)
    kernels.Scorer(chosen, W, b, 0).scores(sources, ours, threads)
    reference.Scorer(chosen, W, b, 0).scores(sources, theirs, 1)
    assert ours.tobytes() == theirs.tobytes()


@each_side
@given(problem=problems(), text=st.text("ab B'é.&\u0301\u4e2d", max_size=20))
def test_one_text_is_one_of_many(side: ModuleType, problem, text) -> None:
    chosen, W, b, _ = problem
    scorer, alone = side.Scorer(chosen, W, b, 0), np.empty((1, len(b)))
    scorer.scores([lay_out([text.encode()])] * 2, alone, 1)
    assert scorer.score(text).tobytes() == alone.tobytes()


@each_side
@given(problem=problems(), text=st.text("ab B'é.&\u0301\u4e2d", max_size=20), curve=st.sampled_from(CURVES))
def test_the_best_class_of_one_text(side: ModuleType, problem, text, curve) -> None:
    chosen, W, b, _ = problem
    scorer = side.Scorer(chosen, W, b, 0)
    S = scorer.score(text)
    S = np.append(0.0, S) if len(S) == 1 else S
    best, chance = scorer.choose(text, curve)
    assert best == S.argmax()
    L = S / curve[0] if curve[1] == NONE else -np.logaddexp(0, -(S / curve[0] + curve[1]))
    assert chance == pytest.approx(1 / np.exp(L - L.max()).sum(), rel=1e-12, abs=1e-6 if curve[0] < 1e-6 else 0)


@given(problems(), st.sampled_from([1, 2, 3, 8]), st.sampled_from(CURVES))
def test_the_best_classes_of_many_texts(problem, threads, curve) -> None:
    chosen, W, b, sources = problem
    found = [(np.full(3, -1, np.int32), np.full(3, np.nan)) for _ in range(3)]
    kernels.Scorer(chosen, W, b, 0).choices(sources, *found[0], curve, 1)
    kernels.Scorer(chosen, W, b, 0).choices(sources, *found[1], curve, threads)
    reference.Scorer(chosen, W, b, 0).choices(sources, *found[2], curve, 1)
    assert found[0][1].tobytes() == found[1][1].tobytes()
    assert found[0][0].tolist() == found[1][0].tolist() == found[2][0].tolist()
    assert found[0][1] == pytest.approx(found[2][1], rel=1e-12)


@each_side
def test_an_offset_far_below_is_a_temperature(side: ModuleType) -> None:
    scorer = simple(side, k=3, bias=np.array([0.5, 0.4, -3.0]))
    plain, near = scorer.choose("a", (0.3, NONE)), scorer.choose("a", (0.3, -60.0))
    assert plain == near
    assert scorer.choose("a", (0.3, -800.0)) == plain
    assert scorer.choose("a", (0.3, 5.0))[1] < plain[1]


@each_side
def test_no_curve_makes_a_chance_that_is_not_one(side: ModuleType) -> None:
    for top in (1e300, 1.0, 0.0, -1e300):
        scorer = simple(side, k=3, bias=np.array([top, -1e300, -1e300]))
        for T in (1e-300, 1e300):
            for offset in (NONE, -1e300, 0.0, 1e300):
                best, chance = scorer.choose("c", (T, offset))
                assert best == 0
                assert 1 / 3 - 1e-12 < chance <= 1


@each_side
def test_choices_that_do_not_fit_are_refused(side: ModuleType) -> None:
    texts = [lay_out([b"a", b"b"])]
    for best, chance, temperature in ((2, 3, 1.0), (3, 3, 1.0), (2, 2, 0.0)):
        with pytest.raises(ValueError, match="Scorer: "):
            simple(side).choices(texts, np.zeros(best, np.int32), np.zeros(chance), (temperature, NONE), 1)


@each_side
def test_of_equals_the_first_is_chosen(side: ModuleType) -> None:
    for offset in (NONE, -3.0, 3.0):
        assert simple(side).choose("a", (1.0, offset)) == (0, 0.5)
    assert simple(side, wanted=4).choose("&", (1.0, NONE)) is None
    for curve in ((0.0, NONE), (-1.0, 0.0), (float("nan"), 0.0), (1.0, float("inf")), (1.0, float("nan"))):
        with pytest.raises(ValueError, match="nothing to choose from"):
            simple(side).choose("a", curve)


@each_side
def test_a_text_that_has_to_be_prepared_has_no_scores(side: ModuleType) -> None:
    flags = {"&": 4, "\u0301": 2, "é": 1}
    for text, flag in flags.items():
        for wanted in range(8):
            found = simple(side, wanted=wanted).score(text)
            expected = flag | (1 if flag == 2 else 0)
            assert (found is None) == bool(expected & wanted)


PLAN = Plan(UNITS["words"], 0, 0, 1, 2)


def simple(side: ModuleType, wanted=0, part=None, d=None, k=2, bias=(0.0, 0.0), **changed):
    part = part or (0, PLAN, vocabulary(), (len(TOKENS), -1))
    group = {"parts": [part], "table": NO_FLOATS, "weights": NO_FLOATS, "kept": NO_INTS, "length": 0, "by": None}
    group = tuple((group | changed).values())
    d = columns_of(group) if d is None else d
    return side.Scorer([group], np.ones((d, k), np.float32), np.array(bias), wanted)


@each_side
def test_what_does_not_fit_is_refused(side: ModuleType) -> None:
    simple(side)
    one, two = np.ones(1, np.float32), np.zeros(1, np.int32)
    for wrong in ({"d": 3}, {"d": 9}, {"k": 3}, {"length": 3}, {"length": -1}, {"weights": one}, {"kept": two}):
        with pytest.raises(ValueError, match="Scorer: "):
            simple(side, **wrong)
    for kept in ([0, 0] + [-1] * 6, [1] + [-1] * 7, [8] + [-1] * 7, [2**31 - 1] + [-1] * 7):
        with pytest.raises(ValueError, match="not numbered"):
            simple(side, kept=np.array(kept, np.int32), d=2)
    with pytest.raises(ValueError, match="bits run from 1 to 30"):
        simple(side, part=(0, PLAN, None, (31, 0)), d=2)
    with pytest.raises(ValueError, match="outside the width"):
        simple(side, part=(0, PLAN, vocabulary(), (8, 8)))
    with pytest.raises(ValueError, match="the plan"):
        simple(side, part=(0, Plan(0, 9, 0, 1, 1), vocabulary(), (8, -1)))


@each_side
@pytest.mark.parametrize("which", [0, 1, 2, 3, 4])
def test_tables_that_would_lead_astray_are_refused(side: ModuleType, which: int) -> None:
    data, offsets, token_slots, columns, pair_slots = vocabulary()
    ids = token_slots.copy()
    ids[1::2][ids[1::2] != 0] += np.uint64(100)
    full = np.where(token_slots.reshape(-1, 2)[:, 1:] == 0, np.uint64(1 << 32), token_slots.reshape(-1, 2)).ravel()
    short = np.where(offsets > 5, np.int64(5), offsets)
    arrays = [
        (data, offsets, ids, columns, pair_slots),
        (data, offsets, full, columns, pair_slots),
        (data, offsets, token_slots, columns, np.zeros_like(pair_slots)),
        (data[:5], short, token_slots, columns, pair_slots),
        (data, offsets, token_slots[:-1], columns, pair_slots),
    ][which]
    with pytest.raises(ValueError, match="vocabulary"):
        simple(side, part=(0, PLAN, arrays, (8, -1)))


@each_side
def test_results_and_texts_that_do_not_fit_are_refused(side: ModuleType) -> None:
    scorer, texts = simple(side), lay_out([b"a", b"b"])
    for sources, shape in (([texts], (3, 2)), ([texts], (2, 1)), ([], (2, 2)), ([texts, lay_out([b"a"])], (2, 2))):
        with pytest.raises(ValueError, match="Scorer: "):
            scorer.scores(sources, np.zeros(shape), 1)
    with pytest.raises(ValueError, match="offsets do not fit"):
        scorer.scores([(texts[0], np.array([0, 9, 2], np.int64))], np.zeros((2, 2)), 1)


@each_side
def test_counts_beyond_the_table_overflow(side: ModuleType) -> None:
    scorer = simple(side, table=LOG)
    assert scorer.score("a " * 49)[0] > 0
    with pytest.raises(OverflowError, match="not in the table"):
        scorer.score("a " * 50)
