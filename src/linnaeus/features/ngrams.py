"""N-grams of words and characters: `Words`, `Skips`, `Chars`, `Subwords`."""

from __future__ import annotations

from dataclasses import field, replace
from typing import Literal, TypeAlias

from linnaeus.arrays.csr import CSR
from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.features.base import Block, Fitted
from linnaeus.features.statistics import Seen, check_width
from linnaeus.features.terms.exact import Counted, Exact, FittedTerms, Given
from linnaeus.features.terms.grams import Grams
from linnaeus.features.terms.hashed import Hashed
from linnaeus.features.weighting import Count, Length, Values, check_length, learn_weights, resolve, weigh_rows
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import UNITS
from linnaeus.protocols import Stream
from linnaeus.text import Analysis, Normalize
from linnaeus.types import Doubles, Ints

Terms: TypeAlias = Exact | Given | Hashed
"""Which terms have a column: learned exactly, given, or by hash."""


@dataclass(frozen=True, kw_only=True)
class TermBlock(Block):
    """Base class of term extractors: tokenization, vocabulary and weighting.

    `terms` is `Exact(...)`, `Given([...])` or `Hashed(...)`; `values` is a name of the table VALUES or an object;
    `length` is the norm of the rows, "l1", "l2" or None. With `unknown`, tokens outside an exact or given vocabulary
    are counted in an additional column.
    """

    tokenizer: str = "words"
    normalize: Normalize = field(default_factory=Normalize)
    stem: str | None = None
    terms: Terms = field(default_factory=Exact)
    values: str | Values = "count"
    length: Length = None
    unknown: bool = False

    def __post_init__(self) -> None:
        resolve(self.values)
        check_length(self.length)
        if not isinstance(self.terms, Exact | Given | Hashed):
            raise InputTypeError(f"terms takes Exact(...), Given([...]) or Hashed(...), not {self.terms!r}.")
        if isinstance(self.terms, Hashed) and resolve(self.values).learns:
            check_width(1 << self.terms.bits)
        if self.unknown and isinstance(self.terms, Hashed):
            raise UsageError("Hashed terms have no unknown tokens; use Exact() or Given([...]) with unknown=True.")
        grams = self.grams()
        if self.unknown and grams.plan.of_words and grams.low > 1:
            raise UsageError("unknown=True needs single words; let n-grams begin at 1: ngrams=(1, ...).")

    def grams(self) -> Grams:
        """Which terms a text has."""
        raise UsageError(f"{type(self).__name__} has no n-grams of its own; use Words, Chars, Subwords or Skips.")

    def analysis(self) -> Analysis:
        """How a text is read."""
        return Analysis(self.tokenizer, self.normalize, self.stem)

    def learn(self, stream: Stream) -> Fitted:
        """Learn the terms in one pass, and the weights in a second pass if they need one."""
        return learn_weights(self._seen(stream), self.values, self.length)

    def learn_rows(self, stream: Stream) -> tuple[Fitted, CSR]:
        """The weights are learned from the rows of counts, which are then valued where they lie."""
        if isinstance(self.terms, Exact):
            counted, X = self.terms.learn_rows(self.grams(), stream, self.unknown)
            seen = self._counted(counted, stream)
        else:
            seen = self._seen(stream)
            X = seen.features.rows(stream)
        features = learn_weights(replace(seen, rows=X), self.values, self.length)
        return features, weigh_rows(features, X)

    def learn_tally(self, stream: Stream, classes: tuple[Ints, int]) -> tuple[Fitted, Doubles] | None:
        """The features, and the sums of the rows of each of k classes (width, k); None if that needs rows.

        `classes` are the class of each row, and k. No row is made: this is what counting models learn from.
        """
        plain = resolve(self.values) == Count() and self.length is None
        if not plain or not isinstance(self.terms, Exact) or self.grams().plan.unit != UNITS["words"]:
            return None
        counted, sums = self.terms.learn_tally(self.grams(), stream, self.unknown, classes)
        return self._counted(counted, stream).features, sums

    def _seen(self, stream: Stream) -> Seen:
        if isinstance(self.terms, Hashed):
            return Seen(self.terms.learn(self.grams(), stream), stream)
        return self._counted(self.terms.learn(self.grams(), stream), stream)

    def _counted(self, counted: Counted, stream: Stream) -> Seen:
        """The terms as features, and what is known of them already."""
        given = None if counted.df is None or self.unknown else (counted.df, counted.n)
        return Seen(FittedTerms(self.grams(), counted.vocabulary, self.unknown), stream, given=given)


@dataclass(frozen=True)
class Words(TermBlock):
    """Counts of words and word n-grams: `ngrams=(1, 2)` for single words and pairs.

    The default uses Unicode words and folds case; `tokenizer="scikit"` with `Normalize(form=None, case="lower")`
    has exactly the terms of scikit-learn's vectorizers.

    >>> Words(ngrams=(1, 2)).fit(["Good film", "good Films"]).names()
    ['film', 'films', 'good', 'good film', 'good films']
    """

    ngrams: tuple[int, int] = (1, 1)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ngrams", check_range(self.ngrams, "ngrams"))
        super().__post_init__()

    def grams(self) -> Grams:
        """Word n-grams."""
        return Grams(self.analysis(), "words", *self.ngrams)


@dataclass(frozen=True)
class Skips(TermBlock):
    """Pairs of words with one to `gap` other words between them: "not _ good".

    >>> Skips(2).fit(["not very very good"]).names()
    ['not _ good', 'not _ very', 'very _ good']
    """

    gap: int = 1

    def __post_init__(self) -> None:
        expect("Skips(gap=...)", self.gap, int)
        super().__post_init__()

    def grams(self) -> Grams:
        """Pairs with a gap."""
        return Grams(self.analysis(), "skips", 2, 2, self.gap)


def check_range(sizes: tuple[int, int], name: str) -> tuple[int, int]:
    """Two whole numbers, the first not above the second."""
    try:
        low, high = sizes
    except (TypeError, ValueError):
        raise InputTypeError(f"{name} takes two numbers, the shortest and the longest, not {sizes!r}.") from None
    if not all(isinstance(size, int) and not isinstance(size, bool) for size in (low, high)):
        raise InputTypeError(f"{name} takes two whole numbers, not {sizes!r}.")
    return low, high


Within: TypeAlias = Literal["words", "text"]
WITHIN: dict[Within, str] = {"words": "inside", "text": "across"}
"""What a character n-gram may not leave, and the kernels' unit for it."""


@dataclass(frozen=True)
class Chars(TermBlock):
    """Counts of character n-grams of `shortest` to `longest` characters; good for short texts, typos and languages.

    With `within="words"`, each word is padded with a space at both ends and n-grams stay within it, as in
    scikit-learn's char_wb, where words are separated by white space (the default here). With `within="text"`, n-grams
    cross word boundaries, and runs of white space count as one space, as in scikit-learn's char.

    >>> Chars(3, 3).fit(["to be"]).names()
    [' be', ' to', 'be ', 'to ']
    """

    shortest: int = 3
    longest: int = 5
    within: Within = "words"
    tokenizer: str = field(default="whitespace", kw_only=True)

    def __post_init__(self) -> None:
        check_range((self.shortest, self.longest), "Chars")
        if self.within not in WITHIN:
            raise UsageError(f"within={self.within!r} is not known; choose 'words' or 'text'.")
        refuse_pieces(self.tokenizer)
        super().__post_init__()

    def grams(self) -> Grams:
        """Character n-grams."""
        return Grams(self.analysis(), WITHIN[self.within], self.shortest, self.longest)


@dataclass(frozen=True)
class Subwords(TermBlock):
    """Words in <brackets> and their character n-grams, as in fastText (Bojanowski et al. 2017).

    >>> Subwords(3, 3).fit(["where"]).names()
    ['<wh', '<where>', 'ere', 'her', 're>', 'whe']
    """

    shortest: int = 3
    longest: int = 6

    def __post_init__(self) -> None:
        check_range((self.shortest, self.longest), "Subwords")
        refuse_pieces(self.tokenizer)
        super().__post_init__()

    def grams(self) -> Grams:
        """Words and their n-grams."""
        return Grams(self.analysis(), "subwords", self.shortest, self.longest)


def refuse_pieces(tokenizer: str) -> None:
    """Refuse tokenizers of characters and bytes."""
    if tokenizer in ("characters", "bytes"):
        raise UsageError(f"Character n-grams need words, but tokenizer={tokenizer!r} has none; use 'words'.")
