"""Joint features of examples and candidates: what they measure, that they survive a file, that scores are rows."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus.data.groups import Groups
from linnaeus.errors import DataError, InputTypeError, LinnaeusError, UsageError
from linnaeus.features import Columns, Words
from linnaeus.features.pairs import (
    MEASURES,
    Company,
    Context,
    Crossed,
    Described,
    Joined,
    Known,
    Match,
    Measured,
    Nothing,
    Numbers,
    PairFunction,
    Passage,
    Proposed,
    restore_pairs,
)
from linnaeus.features.pairs.base import View
from linnaeus.types import State

GROUPS = Groups.from_lists(
    ["Georgia", "georgia", "UN", "Ann"],
    [
        ["Georgia (country)", "Georgia, Texas", "New Georgia"],
        ["Georgia (country)", "Georgia, Texas"],
        ["United Nations", "Un, Iran"],
        [],
    ],
    [0, 1, 0, None],
    columns={
        "doc": ["a", "b", "b", "b"],
        "story": ["Tom ran home. He saw a dog in Texas. The dog was big.", "It rained.", "", "Ann."],
        "near": ["a country in the east", "oil from texas", "", ""],
    },
    details={"links": [[9, 3, 1], [9, 3], [50, None], []], "chance": [[0.5, 0.3, 0.1], [0.2, 0.2], [0.9, 0.0], []]},
)


def longer(text, candidate):
    return len(candidate) - len(text)


MADE = {
    "match": Match(),
    "nothing": Nothing(),
    "numbers": Numbers(("links",)),
    "known": Known(by="doc"),
    "context": Context(("near",), by="doc"),
    "company": Company("doc"),
    "passage": Passage(),
    "proposed": Proposed(),
    "pair_function": PairFunction(longer),
}


def named(measure, groups=GROUPS):
    view = View(groups)
    fitted = measure.fit(view)
    return dict(zip(fitted.names(), fitted.values(view).T.tolist(), strict=True))


def test_every_measure_is_tried():
    assert set(MADE) == set(MEASURES)


@pytest.mark.parametrize("name", MADE)
@pytest.mark.parametrize("standing", ["plain", "both"])
def test_every_measure_gives_finite_features_and_survives_its_state(name, standing):
    fitted = Measured((MADE[name],), standing).fit(GROUPS)
    rows = fitted.rows(GROUPS)
    assert rows.shape == (7, fitted.width) == (7, len(fitted.names()))
    assert np.isfinite(rows.data).all()
    again = restore_pairs(fitted.state(), {"longer": longer})
    assert np.array_equal(again.rows(GROUPS).data, rows.data)
    w = np.linspace(-1, 1, fitted.width)
    assert np.allclose(again.scores(GROUPS, w), rows.dot(w), atol=1e-5)
    assert len(again.learning_rows(GROUPS)) == 7


@pytest.mark.parametrize("name", MADE)
def test_none_of_these_has_only_its_own_numbers(name):
    ready = GROUPS.with_none()
    rows = Measured((MADE[name],)).fit(ready).rows(ready)
    missing = View(ready).missing
    counts = np.diff(rows.indptr)
    assert (counts[missing] > 0).all() if name == "nothing" else (counts[missing] == 0).all()


def test_names_that_match():
    found = named(Match())
    assert found["same name"] == [1, 1, 0, 1, 1, 0, 1]
    assert found["begins with it"] == [1, 1, 0, 1, 1, 0, 1]
    assert found["ends with it"] == [0, 0, 1, 0, 0, 0, 0]
    assert found["initials"] == [0, 0, 0, 0, 0, 1, 0]
    assert found["has a comma"] == [0, 1, 0, 0, 1, 0, 1]


def test_numbers_of_candidates_and_their_places():
    found = named(Numbers(("links",)))
    assert found["links: share"][:3] == pytest.approx([9 / 13, 3 / 13, 1 / 13])
    assert found["links: 1 / rank"] == pytest.approx([1, 1 / 2, 1 / 3, 1, 1 / 2, 1, 1 / 2])
    with pytest.raises(DataError, match="no numbers 'visits'"):
        named(Numbers(("visits",)))


def test_what_was_chosen_before_counts_without_the_own_document():
    view = View(GROUPS)
    fitted = Known(by="doc").fit(view)
    share = fitted.names().index("chosen before, share")
    assert fitted.values(view)[:5, share].tolist() == [0.25, 0.25, 0.0, 0.25, 0.25]
    # The answer of document a is known from b's point of view only, and the other way round.
    assert fitted.learning_values(view)[:5, share] == pytest.approx([0.0, 1 / 3, 0.0, 1 / 3, 0.0])


def test_words_around():
    assert named(Context(("near",)))["words in the context"] == [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0]
    company = named(Company("doc"))["words of the others' candidates, mean"]
    assert company[3] == pytest.approx(1 / 3)
    assert company[5] == pytest.approx(1 / 3)


def test_a_story_speaks_for_the_choice_that_stands_near_the_question():
    story = "Tom went to the market. He bought a red hat there. At home his sister Ann drank milk."
    one = Groups.from_lists(["What did Ann drink?"], [["a red hat", "milk"]], [1], columns={"story": [story]})
    found = named(Passage(), one)
    for name in ("nearest word of the question", "product, 1 in a row", "at the best sentence, 1 in a row"):
        assert found[name][1] > found[name][0]


def test_negated_questions_have_weights_of_their_own():
    columns = {"story": ["Ann ate bread. Tom slept."] * 2}
    two = Groups.from_lists(["Who ate bread?", "Who did not eat?"], [["Ann", "Tom"]] * 2, [0, 1], columns=columns)
    fitted = Measured((Passage(clues=("window",)),), question="text").fit(two)
    rows, q = fitted.rows(two), 4
    assert set((rows.indices[: rows.indptr[2]] // q).tolist()) <= {0, 5}
    assert set((rows.indices[rows.indptr[2] :] // q).tolist()) == {1}
    assert fitted.names()[q].startswith("not: ")


def test_crossed_features_are_every_pair_and_scores_are_rows():
    block = Described(Words()) | Crossed(Words(), Words(), ("near", "text"), 2.0)
    fitted = block.fit(GROUPS)
    rows, rng = fitted.rows(GROUPS), np.random.default_rng(0)
    w = rng.normal(size=fitted.width)
    assert np.allclose(fitted.scores(GROUPS, w), rows.dot(w), atol=1e-5)
    names = fitted.names()
    column = list(names).index("country & east")
    assert rows.to_scipy().toarray()[0, column] == 2.0
    again = restore_pairs(fitted.state())
    assert np.array_equal(again.scores(GROUPS, w), fitted.scores(GROUPS, w))
    assert again.names()[column] == "country & east"
    ready = GROUPS.with_none()
    assert fitted.scores(ready, w)[View(ready).missing].tolist() == [0.0] * 4


def test_a_copy_of_the_features_for_each_candidate():
    groups = Groups.from_lists(["drug patients"], [["Health", "Sports", "Science"]], [0])
    fitted = Crossed(Words(), Columns(categorical=("candidate",))).fit(groups)
    assert fitted.rows(groups).to_scipy().toarray()[:, :6].tolist() == [
        [1, 1, 0, 0, 0, 0],
        [0, 0, 0, 0, 1, 1],
        [0, 0, 1, 1, 0, 0],
    ]


@pytest.mark.parametrize(
    "make",
    [
        lambda: Measured(()),
        lambda: Measured((Words(),)),
        lambda: Measured((Match(),), standing="sideways"),
        lambda: Joined(()),
        lambda: Described(Match()),
        lambda: Crossed(Words(), Match()),
        lambda: Crossed(Words(), Words(), "text"),
        lambda: Numbers("links"),
        lambda: Context("near"),
        lambda: Passage(clues=("luck",)),
        lambda: PairFunction(3),
    ],
)
def test_what_is_no_piece_is_refused(make):
    with pytest.raises((UsageError, InputTypeError)):
        make()


def test_a_function_of_the_user_must_give_numbers_and_be_passed_in_again():
    with pytest.raises(DataError, match="finite number"):
        Measured((PairFunction(lambda _a, _b: float("nan"), "bad"),)).fit(GROUPS)
    fitted = Measured((PairFunction(longer),)).fit(GROUPS)
    with pytest.raises(UsageError, match="needs the function 'longer'"):
        restore_pairs(fitted.state())


def test_hostile_states_are_refused():
    fitted = Joined((Measured(tuple(MADE.values())), Crossed(Words(), Words()))).fit(GROUPS)
    whole = fitted.state()
    for name, tensor in whole.tensors.items():
        for other in (tensor[:-1], tensor.astype(np.float32), (tensor * 0 - 7).astype(tensor.dtype)):
            if np.array_equal(other, tensor) or not len(tensor):
                continue
            try:
                restored = restore_pairs(State(whole.manifest, {**whole.tensors, name: other}), {"longer": longer})
                restored.rows(GROUPS)
            except LinnaeusError:
                continue
    for kind in ("nope", 3, None, "words"):
        with pytest.raises(LinnaeusError):
            restore_pairs(State({"kind": kind}, {}))
    with pytest.raises(LinnaeusError):
        restore_pairs(Match().state())
