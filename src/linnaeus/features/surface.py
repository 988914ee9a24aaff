"""Surface features of texts: prefixes and suffixes of words, and the shape of a text."""

from __future__ import annotations

import math
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field as having
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from linnaeus.arrays.csr import CSR
from linnaeus.data.batch import Batch
from linnaeus.errors import InputTypeError, UsageError, damaged, damaged_or_newer, expect
from linnaeus.features.base import Block, Fitted, rows_from
from linnaeus.features.batches import text, texts
from linnaeus.features.names import Names, numbered
from linnaeus.frozen import dataclass
from linnaeus.protocols import Stream
from linnaeus.store.states import field, listed, pack_strings, unpack_strings
from linnaeus.text import Analysis, Normalize, as_texts
from linnaeus.text.buffers import as_arrow
from linnaeus.types import Ints, Place, State, offsets_of

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def bag(text: pa.Array, analysis: Analysis) -> tuple[list[str], csr_matrix]:
    """The distinct words of these texts, and how often each stands in each text (n, words), for a product.

    Repeated words are not summed up yet: a row of the matrix has an entry for each of its tokens.

    >>> import pyarrow as pa; from linnaeus.text import Analysis
    >>> words, counts = bag(pa.array(["to be or not to be", "be"]), Analysis())
    >>> words, counts.toarray().tolist()
    (['to', 'be', 'or', 'not'], [[2.0, 2.0, 1.0, 1.0], [0.0, 1.0, 0.0, 0.0]])
    """
    from scipy.sparse import csr_matrix

    tokens, rows = analysis.tokenize(as_texts(text))
    encoded = as_arrow(tokens).dictionary_encode()
    words: list[str] = encoded.dictionary.to_pylist()
    numbers = encoded.indices.to_numpy(zero_copy_only=False)
    return words, csr_matrix((np.ones(len(numbers)), numbers, rows), shape=(len(text), len(words)))


WORDS = Analysis()


@dataclass(frozen=True)
class Affixes(Block):
    """Counts of prefixes and suffixes of words, case folded: `un-`, `-ing`.

    `prefixes` and `suffixes` are the lengths of the affixes; a word must be longer. Affixes that occur in at least
    `min_df` training texts are kept, sorted by code point; other affixes are ignored.

    >>> Affixes(prefixes=(2,), suffixes=(3,)).fit(["singing", "Sings"]).names()
    ['-ing', '-ngs', 'si-']
    """

    prefixes: tuple[int, ...] = (1, 2, 3)
    suffixes: tuple[int, ...] = (1, 2, 3)
    min_df: int = 1

    def __post_init__(self) -> None:
        for name in ("prefixes", "suffixes"):
            object.__setattr__(self, name, _check_lengths(name, getattr(self, name)))
        expect("Affixes(min_df=...)", self.min_df, int, 1)
        if not self.prefixes and not self.suffixes:
            raise UsageError("Affixes needs at least one length of prefixes or suffixes.")

    def learn(self, stream: Stream) -> FittedAffixes:
        """Count the document frequency of each affix, in one pass."""
        numbers: dict[str, int] = {}
        df: Counter[int] = Counter()
        for batch in stream.batches():
            counts = self.lengths.count(batch, lambda name: numbers.setdefault(name, len(numbers)))
            df.update(dict(zip(*np.unique(counts.indices, return_counts=True), strict=True)))
        return FittedAffixes(self.lengths, tuple(sorted(name for name, i in numbers.items() if df[i] >= self.min_df)))

    @property
    def lengths(self) -> Lengths:
        """Which beginnings and ends of a word count."""
        return Lengths(self.prefixes, self.suffixes)


def _check_lengths(name: str, lengths: Iterable[int]) -> tuple[int, ...]:
    if isinstance(lengths, str) or not isinstance(lengths, Iterable):
        raise InputTypeError(f"Affixes({name}=...) takes several lengths, such as (1, 2, 3), not {lengths!r}.")
    lengths = tuple(lengths)
    for length in lengths:
        expect(f"Each length of Affixes({name}=...)", length, int, 1)
    return tuple(sorted(set(lengths)))


@dataclass(frozen=True)
class Lengths:
    """The lengths of prefixes and suffixes; only words that are longer have them."""

    prefixes: tuple[int, ...]
    suffixes: tuple[int, ...]

    def cut(self, start: int, end: int) -> Iterator[tuple[str, int, int]]:
        """The form of the name, start and end of each affix of the word that stands there."""
        yield from (("{}-", start, start + length) for length in self.prefixes if end - start > length)
        yield from (("-{}", end - length, end) for length in self.suffixes if end - start > length)

    def of_word(self, word: str) -> list[str]:
        """The affixes of a word, by name."""
        return [name.format(word[start:end]) for name, start, end in self.cut(0, len(word))]

    def count(self, batch: Batch, number: Callable[[str], int | None]) -> csr_matrix:
        """How often each affix that has a number occurs in each text: counts of words times affixes of words."""
        from scipy.sparse import csr_matrix

        words, counts = bag(text(batch, "Affixes"), WORDS)
        found = [[number(name) for name in self.of_word(word)] for word in words]
        known = [[column for column in columns if column is not None] for columns in found]
        ends = offsets_of([len(columns) for columns in known])
        columns = np.fromiter((column for row in known for column in row), np.int64, int(ends[-1]))
        width = int(columns.max(initial=-1)) + 1
        counts = counts @ csr_matrix((np.ones(len(columns)), columns, ends), shape=(len(words), width))
        counts.sort_indices()
        return counts


@dataclass(frozen=True)
class FittedAffixes(Fitted):
    """Fitted affixes."""

    lengths: Lengths
    terms: tuple[str, ...]

    @cached_property
    def _columns(self) -> dict[str, int]:
        return {term: column for column, term in enumerate(self.terms)}

    @property
    def width(self) -> int:
        """One column for each affix."""
        return len(self.terms)

    def extract(self, batch: Batch) -> CSR:
        """How often each affix occurs."""
        counts = self.lengths.count(batch, self._columns.get)
        indptr, indices = counts.indptr.astype(np.int64), counts.indices.astype(np.int32)
        return CSR(indptr, indices, counts.data.astype(np.float32), self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The beginnings and ends of words."""
        return [list(self._places(text)) for text in texts(batch, "Affixes")]

    def names(self) -> list[str]:
        """The affixes, with a dash where the rest of the word was."""
        return list(self.terms)

    def keep(self, columns: Ints) -> FittedAffixes:
        """Only these affixes."""
        return FittedAffixes(self.lengths, tuple(self.terms[column] for column in columns.tolist()))

    def state(self) -> State:
        """Lengths and affixes."""
        lengths = {"prefixes": list(self.lengths.prefixes), "suffixes": list(self.lengths.suffixes)}
        manifest = {"kind": "affixes", **lengths}
        return State(manifest, pack_strings("terms", self.terms))

    @classmethod
    def from_state(cls, state: State) -> FittedAffixes:
        """Restore from the stored state."""
        prefixes, suffixes = (listed(state.manifest, name, int) for name in ("prefixes", "suffixes"))
        if min((*prefixes, *suffixes), default=1) < 1:
            raise damaged("its affixes have no length")
        return cls(Lengths(prefixes, suffixes), tuple(unpack_strings("terms", state.tensors)))

    def _places(self, text: str) -> Iterator[Place]:
        aligned = WORDS.normalize.align(text)
        for word_start, word_end in WORDS.cut(aligned.text):
            for name, start, end in self.lengths.cut(word_start, word_end):
                column = self._columns.get(name.format(aligned.text[start:end]))
                if column is not None:
                    yield Place(column, *aligned.span(start, end))


def has_punctuation(word: str) -> bool:
    """Whether a character of the word is punctuation or a symbol."""
    return any(unicodedata.category(character)[0] in "PS" for character in word)


def has_capital(word: str) -> bool:
    """Whether a letter of the word is upper or title case."""
    return any(character.isupper() or character.istitle() for character in word)


def is_all_capitals(word: str) -> bool:
    """Whether the word has at least two letters, all upper case."""
    return word.isupper() and sum(character.isalpha() for character in word) > 1


def has_digit(word: str) -> bool:
    """Whether a character of the word is a digit."""
    return any(character.isdigit() for character in word)


SHARES: dict[str, Callable[[str], bool]] = {
    "words with punctuation": has_punctuation,
    "words with a capital": has_capital,
    "words in capitals": is_all_capitals,
    "words with a digit": has_digit,
}
LENGTHS = ("log words", "log characters")

CHUNKS = Analysis("whitespace", Normalize(form=None, case=None))
"""What stands between white space: words with the punctuation that clings to them."""


@dataclass(frozen=True)
class Shape(Block):
    """The shape of a text: shares of words with punctuation, capitals or digits, and ln(1 + length).

    The six columns are the shares of words with punctuation, with a capital, all in capitals, and with a digit, and
    ln(1 + length) in words and in characters. Words are separated by white space. Shares are between 0 and 1.

    >>> Shape().fit(["x"]).rows(["Call 911 NOW !"]).data[:4].round(2).tolist()
    [0.25, 0.5, 0.25, 0.25]
    """

    def learn(self, stream: Stream) -> FittedShape:
        """Nothing is learned."""
        del stream
        return FittedShape()


@dataclass(frozen=True)
class FittedShape(Fitted):
    """The shape of texts."""

    @property
    def width(self) -> int:
        """The shares and the lengths."""
        return len(SHARES) + len(LENGTHS)

    def extract(self, batch: Batch) -> CSR:
        """Six numbers for each text."""
        words, counts = bag(text(batch, "Shape"), CHUNKS)
        tests = np.array([[test(word) for test in SHARES.values()] for word in words], np.float64)
        found = counts @ tests.reshape(len(words), len(SHARES))
        lengths = zip(np.diff(counts.indptr).tolist(), pc.utf8_length(batch.text).to_pylist(), strict=True)
        return rows_from([_shape(row, *sizes) for row, sizes in zip(found.tolist(), lengths, strict=True)], self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """The words that have it, for each share."""
        return [
            [
                Place(column, start, end)
                for column, test in enumerate(SHARES.values())
                for start, end in CHUNKS.cut(text)
                if test(text[start:end])
            ]
            for text in texts(batch, "Shape")
        ]

    def names(self) -> list[str]:
        """What each number says."""
        return [*SHARES, *LENGTHS]

    def state(self) -> State:
        """Only its kind."""
        return State({"kind": "shape"}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedShape:
        """Restore from the stored state."""
        del state
        return cls()


def _shape(found: list[float], words: int, characters: int) -> dict[int, float]:
    shares = [count / max(words, 1) for count in found]
    return dict(enumerate([*shares, math.log1p(words), math.log1p(characters)]))


LONGEST = 1 << 24


@dataclass(frozen=True)
class Letters(Block):
    """The first `length` characters of a text, for string kernels: column = position, value = code point + 1.

    Use them with the kernels `Spectrum` and `Subsequence`, not with linear learners. A model that keeps such rows
    contains the texts.

    >>> Letters().fit([]).rows(["Ab"]).data.tolist()
    [98.0, 99.0]
    """

    length: int = 1000
    normalize: Normalize = having(default_factory=Normalize)

    def __post_init__(self) -> None:
        expect("Letters(length=...)", self.length, int, 1, LONGEST)
        if not isinstance(self.normalize, Normalize):
            raise InputTypeError("normalize takes a Normalize(...), such as Normalize(case=None) to keep the case.")

    def learn(self, stream: Stream) -> FittedLetters:
        """Nothing is learned."""
        del stream
        return FittedLetters(self.length, self.normalize)


@dataclass(frozen=True)
class FittedLetters(Fitted):
    """Texts as strings of numbers."""

    spells: ClassVar[bool] = True
    """Its rows are the texts themselves, so that a model that keeps rows keeps texts."""

    length: int
    normalize: Normalize

    @property
    def width(self) -> int:
        """The places."""
        return self.length

    def extract(self, batch: Batch) -> CSR:
        """Code points and one, place by place."""
        cut = [self.normalize(text)[: self.length] for text in texts(batch, "Letters")]
        offsets = offsets_of([len(text) for text in cut])
        points = np.frombuffer("".join(cut).encode("utf-32-le", "surrogatepass"), "<u4")
        places = np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets))
        return CSR(offsets, places.astype(np.int32), (points + np.uint32(1)).astype(np.float32), self.width)

    def locate(self, batch: Batch) -> list[list[Place]]:
        """Each letter where it stands."""
        found = []
        for one in texts(batch, "Letters"):
            aligned = self.normalize.align(one)
            letters = enumerate(aligned.text[: self.length])
            found.append([Place(i, *aligned.span(i, i + 1), float(ord(letter) + 1)) for i, letter in letters])
        return found

    def names(self) -> Names:
        """`letter 7` for the seventh."""
        return numbered(self.width, "letter {}", 1)

    def state(self) -> State:
        """Only the settings."""
        return State({"kind": "letters", "length": self.length, "normalize": self.normalize.manifest()}, {})

    @classmethod
    def from_state(cls, state: State) -> FittedLetters:
        """Restore from the stored state."""
        length = field(state.manifest, "length", int)
        if not 1 <= length <= LONGEST:
            raise damaged(f"it claims texts of {length} letters")
        try:
            return cls(length, Normalize(**field(state.manifest, "normalize", dict)))
        except (TypeError, UsageError) as error:
            raise damaged_or_newer("how it reads text is not known") from error
