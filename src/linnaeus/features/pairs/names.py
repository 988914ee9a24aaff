"""Names compared: a mention in a text against the titles that may be meant."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus import kernels
from linnaeus.features.pairs.measures import Plain, largest_in_group
from linnaeus.features.pairs.view import Distinct
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.features.pairs.view import View
    from linnaeus.types import Doubles

ASIDE = r"( \(.*\)|, .*)$"
"""What is put behind a name to tell it from others: "Georgia (country)", "Paris, Texas"."""

INITIALS = r"(\p{L})[\p{L}\p{N}'.]*[^\p{L}\p{N}]*"


@dataclass(frozen=True)
class Match(Plain):
    """How well the words of a text (a mention) match those of a candidate (a title), case folded.

    >>> from linnaeus.data.groups import Groups
    >>> from linnaeus.features.pairs.view import View
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
    """Titles without what was put behind them; which have parentheses, which a comma."""
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
