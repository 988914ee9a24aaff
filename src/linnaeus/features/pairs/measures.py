"""Measures: words in common of texts and candidates, numbers of candidates, and how often they were the answer."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus import kernels
from linnaeus.data.groups import CHANCE
from linnaeus.errors import DataError, UsageError
from linnaeus.features.pairs.base import PRIME, Distinct, Keys, Tally, View, gathered
from linnaeus.features.pairs.measured import FittedMeasure, Measure, Plain, largest_in_group
from linnaeus.frozen import dataclass
from linnaeus.store.states import field
from linnaeus.types import Doubles, Longs, State, Words64
from linnaeus.types import groups as gather

ASIDE = r"( \(.*\)|, .*)$"
"""The end of a title that tells it from others of the same name: "Georgia (country)", "Paris, Texas"."""

LEAST = 1e-4
"""Is added to chances before their logarithm."""

INITIALS = r"(\p{L})[\p{L}\p{N}'.]*[^\p{L}\p{N}]*"


@dataclass(frozen=True)
class Match(Plain):
    """How well the words of a text (a mention) match those of a candidate (a title), case folded.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.base import View
    >>> view = View(Groups.from_lists(["Georgia"], [["Georgia (country)", "Atlanta, Georgia"]]))
    >>> dict(zip(Match().names(), Match().values(view)[0], strict=True))["same name"]
    np.float64(1.0)
    """

    KIND = "match"
    source: str = "text"

    def names(self) -> list[str]:
        """The numbers."""
        return [
            "same words", "same name", "begins with it", "ends with it", "has it inside",
            "share of its words", "words in common", "further words", "no further word", "initials",
            "has parentheses", "has a comma",
        ]  # fmt: skip

    def values(self, view: View) -> Doubles:
        """From the words both begin with, end with and share."""
        own, other = view.distinct(self.source), view.distinct("candidate")
        arrays = own.tokens.arrays, other.tokens.arrays, view.members(self.source)
        found = kernels.align_tokens(*arrays, kernels.thread_count()).reshape(-1, 4).astype(np.float64)
        shared, prefix, suffix, run = found.T
        name, aside, comma = view.shared("bases", lambda: _bases(other.values))
        a = own.tokens.sizes[own.codes][view.group].astype(np.float64)
        b = other.tokens.sizes[other.codes].astype(np.float64)
        base = name.tokens.sizes[name.codes[other.codes]]
        some = a > 0
        columns = [
            some & (prefix == a) & (a == b),
            some & (prefix == a) & (a == base),
            some & (prefix == a),
            some & (suffix == a),
            some & (run == a),
            shared / np.maximum(a, 1),
            shared / np.maximum(a + b - shared, 1),
            np.log1p(b - shared),
            b == shared,
            self._initials(view, name),
            aside[other.codes],
            comma[other.codes],
        ]
        return np.column_stack([np.asarray(column, np.float64) for column in columns])

    def _initials(self, view: View, name: Distinct) -> Doubles:
        """Whether the text is short and made of the capital first letters of the candidate's words."""
        own, codes = view.distinct(self.source), view.distinct("candidate").codes
        plain = pc.replace_substring(own.values, ".", "")
        short = pc.match_substring_regex(plain, r"^\p{Lu}{2,8}$").to_numpy(zero_copy_only=False)[own.codes][view.group]
        found = np.zeros(len(view))
        at = np.flatnonzero(short)
        if len(at):
            titles, back = np.unique(name.codes[codes[at]], return_inverse=True)
            letters = pc.replace_substring_regex(name.values.take(pa.array(titles)), INITIALS, r"\1")
            capitals = pc.replace_substring_regex(letters, r"[^\p{Lu}]", "").take(pa.array(back))
            mine = plain.take(pa.array(own.codes[view.group[at]]))
            found[at] = pc.equal(capitals, mine).to_numpy(zero_copy_only=False)
        return found


def _bases(values: pa.Array) -> tuple[Distinct, Doubles, Doubles]:
    """Titles without such an end, and which titles have parentheses or a comma."""
    encoded = pc.replace_substring_regex(values, ASIDE, "").dictionary_encode()
    aside = pc.match_substring(values, " (").to_numpy(zero_copy_only=False)
    comma = pc.match_substring(values, ", ").to_numpy(zero_copy_only=False)
    codes = encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    return Distinct(codes, encoded.dictionary), aside, comma


@dataclass(frozen=True)
class Nothing(Plain):
    """Features of the choice "none of these": an indicator, and how little the best candidate matches."""

    KIND = "nothing"
    about_none: ClassVar[bool] = True
    source: str = "text"

    def names(self) -> list[str]:
        """The numbers."""
        return ["none of these", "none of these, and no candidate", "none of these, and words that none has"]

    def values(self, view: View) -> Doubles:
        """Zeros but for the choice of nothing."""
        if not view.missing.any():
            return np.zeros((len(view), 3))
        share = Match(self.source).values(view)[:, 5]
        counts = np.diff(view.groups.offsets) - np.bincount(view.group, view.missing, len(view.groups))
        best = largest_in_group(np.where(view.missing, 0.0, share), view.groups.offsets)
        columns = np.column_stack([np.ones(len(view)), (counts == 0)[view.group], 1.0 - best[view.group]])
        return columns * view.missing[:, None]


@dataclass(frozen=True)
class Context(Plain):
    """The share of a candidate's words that occur in these columns of its example, without the words of the text.

    With `by`, the columns of all examples with the same value of `by` are used, such as those of one document.
    """

    KIND = "context"
    columns: tuple[str, ...] = ("text",)
    source: str = "text"
    by: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.columns, str) or not self.columns:
            raise UsageError(f"Context takes a tuple of names of columns, not {self.columns!r}.")

    def names(self) -> list[str]:
        """The numbers."""
        where = "context" if self.by is None else f"{self.by}'s context"
        return [f"words in the {where}", f"all words in the {where}"]

    def values(self, view: View) -> Doubles:
        """The share, and whether it is all of them."""
        sets, which = view.sets(self.columns, self.by)
        left, hits, _, _ = met(view, self.source, sets, np.ones(len(sets.keys)), which).T
        return np.column_stack([hits / np.maximum(left, 1), (left > 0) & (hits == left)]).astype(np.float64)


@dataclass(frozen=True)
class Company(Plain):
    """The share of examples of the same document that have a candidate with the same words.

    It uses the first `top` candidates of every example with the same value of `by`.
    """

    KIND = "company"
    by: str = "doc"
    source: str = "text"
    top: int = 8

    def names(self) -> list[str]:
        """The numbers."""
        return ["words of the others' candidates, mean", "words of the others' candidates, most"]

    def values(self, view: View) -> Doubles:
        """Mean and largest share of the document's examples that have a word."""
        which = view.owners(self.by)
        sets, counts = self._counted(view, which)
        left, _, total, most = met(view, self.source, sets, counts, which).T
        return np.column_stack([total / np.maximum(left, 1), most])

    def _counted(self, view: View, which: Longs) -> tuple[Keys, Doubles]:
        """The words of the first candidates of each document, and the share of its examples that have them."""
        other, offsets = view.distinct("candidate"), view.groups.offsets
        first = np.flatnonzero(np.arange(len(view)) - offsets[view.group] < self.top)
        rows = other.codes[first]
        _, at, _ = gather(other.tokens.at, rows)
        keys = other.tokens.keys[at]
        group = np.repeat(view.group[first], other.tokens.sizes[rows])
        with np.errstate(over="ignore"):
            _, once = np.unique(keys + group.astype(np.uint64) * PRIME, return_index=True)
            owner = which[group[once]]
            _, first_, counts = np.unique(
                keys[once] + owner.astype(np.uint64) * PRIME, return_index=True, return_counts=True
            )
        owner, keys = owner[first_], keys[once][first_]
        size = np.bincount(which, minlength=int(which.max(initial=-1)) + 1)
        share = counts / np.maximum(size[owner], 1)
        order = np.argsort(owner, kind="stable")
        return gathered(owner, keys, len(size)), share[order]


def met(view: View, source: str, sets: Keys, values: Doubles, which: Longs) -> Doubles:
    """What `meet_tokens` says of every candidate (m, 4)."""
    own, other = view.distinct(source).tokens.arrays, view.distinct("candidate").tokens.arrays
    table = sets.arrays, np.ascontiguousarray(values, np.float64), which
    return kernels.meet_tokens(table, own, other, view.members(source), kernels.thread_count()).reshape(-1, 4)


@dataclass(frozen=True)
class Numbers(Plain):
    """Numeric columns of the candidates: log(1 + v), the share of the group's sum, its logarithm, 1 / rank, first.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.base import View
    >>> two = Groups.from_lists(["x"], [["a", "b"]], details={"links": [[3, 1]]})
    >>> Numbers(("links",)).values(View(two))[:, 1].tolist()
    [0.75, 0.25]
    """

    KIND = "numbers"
    columns: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.columns, str):
            raise UsageError(f"Numbers takes a tuple of names of columns, not {self.columns!r}.")

    def names(self) -> list[str]:
        """Five for each column."""
        forms = ("log", "share", "log share", "1 / rank", "the most")
        return [f"{column}: {form}" for column in self.columns for form in forms]

    def values(self, view: View) -> Doubles:
        """The five of each column."""
        return np.column_stack([part for name in self.columns for part in _forms(view, name)])


@dataclass(frozen=True)
class Proposed(Plain):
    """What the model that proposed the candidates thinks of each: its chance, the share of it, and its place.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.base import View
    >>> one = Groups.from_lists(["x"], [["a", "b"]], details={"chance": [[0.6, 0.2]]})
    >>> Proposed().values(View(one))[:, 2].round(2).tolist()
    [0.75, 0.25]
    """

    KIND = "proposed"

    def names(self) -> list[str]:
        """The numbers."""
        return [f"proposed: {form}" for form in ("chance", "log chance", "share", "log share", "1 / place", "first")]

    def values(self, view: View) -> Doubles:
        """The same of each candidate."""
        chance = _numbers(view, CHANCE)
        _, share, _, place, first = _forms(view, CHANCE)
        return np.column_stack([chance, np.log(chance + LEAST), share, np.log(share + LEAST), place, first])


def _forms(view: View, name: str) -> list[Doubles]:
    v, offsets, group = _numbers(view, name), view.groups.offsets, view.group
    total = np.bincount(group, v, len(view.groups))[group]
    order = np.lexsort((np.arange(len(v)), -v, group))
    rank = np.empty(len(v))
    rank[order] = np.arange(len(v)) - offsets[group] + 1.0
    share = v / np.maximum(total, 1e-30)
    return [np.log1p(v), share, np.log((v + 1.0) / (total + 1.0)), 1.0 / rank, (rank == 1.0).astype(np.float64)]


def _numbers(view: View, name: str) -> Doubles:
    if name not in view.groups.details:
        there = ", ".join(view.groups.details) or "none"
        raise DataError(f"The candidates have no numbers {name!r}; there are {there}.")
    try:
        found = view.groups.details[name].cast(pa.float64()).to_numpy(zero_copy_only=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise DataError(f"{name!r} must hold a number for each candidate, but one is not a number.") from error
    return np.where(np.isfinite(found) & (found > 0), found, 0.0)


NAMES = ["chosen before, log share", "chosen before, share", "chosen before", "seen, never chosen", "chosen elsewhere"]


@dataclass(frozen=True)
class Known(Measure):
    """Counts of the candidates chosen for the same text in training, without those of the example's own document.

    `by` is the column of documents; without it each example is a document. Only hashes are stored.
    """

    KIND = "known"
    source: str = "text"
    by: str | None = None

    def fit(self, view: View) -> FittedKnown:
        """The tables."""
        text, pair, page = keys(view, self.source)
        gold = view.groups.truth().gold & ~view.missing
        chosen = np.unique(view.group[gold])
        return FittedKnown(self.source, self.by, Tally.of(pair[gold]), Tally.of(text[chosen]), Tally.of(page[gold]))


@dataclass(frozen=True, eq=False)
class FittedKnown(FittedMeasure):
    """Hashes and their counts: of text and choice, of texts, of choices."""

    source: str
    by: str | None
    pairs: Tally
    texts: Tally
    pages: Tally

    def names(self) -> list[str]:
        """The numbers."""
        return list(NAMES)

    def values(self, view: View) -> Doubles:
        """From all of training."""
        return _measured(*self._counts(view))

    def learning_values(self, view: View) -> Doubles:
        """From all of training but the example's own document."""
        counts, own = self._counts(view), self._own(view)
        return _measured(*(count - less for count, less in zip(counts, own, strict=True)))

    def _counts(self, view: View) -> tuple[Doubles, Doubles, Doubles]:
        text, pair, page = keys(view, self.source)
        return self.pairs.look(pair), self.texts.look(text)[view.group], self.pages.look(page)

    def _own(self, view: View) -> tuple[Doubles, Doubles, Doubles]:
        text, pair, page = keys(view, self.source)
        owner = view.owners(self.by).astype(np.uint64)
        gold = view.groups.truth().gold & ~view.missing
        chosen, inner = np.unique(view.group[gold]), owner[view.group]
        with np.errstate(over="ignore"):
            pair, text, page = pair + inner * PRIME, text + owner * PRIME, page + inner * PRIME
        pairs, texts, pages = Tally.of(pair[gold]), Tally.of(text[chosen]), Tally.of(page[gold])
        return pairs.look(pair), texts.look(text)[view.group], pages.look(page)

    def state(self) -> State:
        """The tables."""
        tables = {"pairs": self.pairs, "texts": self.texts, "pages": self.pages}
        tensors = [table.tensors(name, f"{name}.counts") for name, table in tables.items()]
        manifest = {"kind": Known.KIND, "source": self.source, "by": self.by}
        return State(manifest, {name: array for one in tensors for name, array in one.items()})

    @classmethod
    def from_state(cls, state: State) -> FittedKnown:
        """Restore from the stored state."""
        source, by = field(state.manifest, "source", str), field(state.manifest, "by", (str, type(None)))
        return cls(
            source, by, *(Tally.from_state(state, name, f"{name}.counts") for name in ("pairs", "texts", "pages"))
        )


def keys(view: View, source: str) -> tuple[Words64, Words64, Words64]:
    """Hashes of the texts (n,), of text and candidate (m,), of the candidates (m,)."""
    return view.shared(("keys", source), lambda: _keys(view, source))


def _keys(view: View, source: str) -> tuple[Words64, Words64, Words64]:
    own, other = view.distinct(source), view.distinct("candidate")
    text, page = own.tokens.whole()[own.codes], other.tokens.whole()[other.codes]
    with np.errstate(over="ignore"):
        pair = (text[view.group] ^ (text[view.group] >> np.uint64(31))) * PRIME + page
    return text, pair, page


def _measured(pair: Doubles, text: Doubles, page: Doubles) -> Doubles:
    return np.column_stack(
        [
            np.log((pair + 0.1) / (text + 1.0)),
            pair / (text + 2.0),
            pair > 0,
            (text >= 3) & (pair == 0),
            np.log1p(page),
        ]
    ).astype(np.float64)
