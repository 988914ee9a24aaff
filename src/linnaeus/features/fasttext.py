"""`FastTextTerms`: the numbers that fastText gives to a text, for models that were read from its files.

A text is cut at ASCII white space. A word of the dictionary has its own number; each word has those of its n-grams of
characters, and neighboring words those of n-grams of words, which are hashed into buckets. A text ends with the word
`</s>`, and what stands behind such a word in it is not read. Labels in a text are left out.
"""

from __future__ import annotations

from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, ClassVar, NoReturn

import numpy as np

from linnaeus import kernels
from linnaeus.arrays.csr import CSR
from linnaeus.errors import UsageError, damaged, expect
from linnaeus.features.base import Block, Fitted
from linnaeus.features.batches import text
from linnaeus.features.names import Names
from linnaeus.frozen import dataclass
from linnaeus.store.states import field, tensor
from linnaeus.text.buffers import as_texts, pack
from linnaeus.types import Arrays, Ints, Longs, State, Texts, offsets_of

if TYPE_CHECKING:
    from linnaeus.data.batch import Batch
    from linnaeus.protocols import Stream

END = b"</s>"
LABEL = b"__label__"
"""Words that begin so are no words, also where they are not in the dictionary: files do not hold another prefix."""
FACTOR = np.uint64(116049371)
LONGEST = 64
"""The most words, or characters, of an n-gram."""
MAX_COLUMNS = 2**31
LEFT_OUT, UNKNOWN = -2, -1


@dataclass(frozen=True)
class FastTextTerms(Block):
    """The words and n-grams of fastText; `linnaeus import` reads them from its files, and they are not learned.

    N-grams of up to `word_ngrams` words, and of `shortest` to `longest` characters of a word (none if `longest` is 0),
    are hashed into `buckets`.

    >>> FastTextTerms(word_ngrams=2, buckets=1000)
    FastTextTerms(word_ngrams=2, shortest=0, longest=0, buckets=1000)
    """

    word_ngrams: int = 1
    shortest: int = 0
    longest: int = 0
    buckets: int = 0

    def __post_init__(self) -> None:
        for name, most in (("word_ngrams", LONGEST), ("shortest", MAX_COLUMNS), ("longest", LONGEST)):
            expect(f"FastTextTerms({name}=...)", getattr(self, name), int, 0, most)
        hashed = self.word_ngrams > 1 or self.longest > 0
        expect("FastTextTerms(buckets=...)", self.buckets, int, 1 if hashed else 0, MAX_COLUMNS - 1)

    def learn(self, stream: Stream) -> NoReturn:
        """Refused: the dictionary is that of a file."""
        raise UsageError(
            "FastTextTerms are read from a file of fastText by `linnaeus import`, and cannot be learned from texts; "
            "use other features, such as Words()."
        )


@dataclass(frozen=True, eq=False)
class FittedFastTextTerms(Fitted):
    """The dictionary of a fastText model; column i is the i-th word, and those behind the words are of buckets.

    A row has the columns of the text's words in their order, each with its n-grams, then those of n-grams of words; a
    column that occurs twice is there twice. `kept` has the buckets that a pruned model kept, and the column of each
    behind those of the words; None: all.
    """

    ordered: ClassVar[bool] = True

    terms: FastTextTerms
    columns: int
    words: Texts
    labels: Texts
    kept: tuple[Ints, Ints] | None = None

    @property
    def width(self) -> int:
        """The rows of the table of input vectors."""
        return self.columns

    def names(self) -> Names:
        """The words, then the numbers of the buckets."""
        return Names(self.columns, lambda start, end: [self._name(column) for column in range(start, end)])

    def _name(self, column: int) -> str:
        if column >= len(self.words):
            return f"bucket {column - len(self.words)}"
        return _word(self.words, column).decode(errors="replace")

    @cached_property
    def _numbers(self) -> dict[bytes, int]:
        """The number of each word; of labels LEFT_OUT."""
        found = {_word(self.words, i): i for i in range(len(self.words))}
        return found | {_word(self.labels, i): LEFT_OUT for i in range(len(self.labels))}

    def extract(self, batch: Batch) -> CSR:
        """The columns of each text in their order, each with the value 1."""
        offsets, tokens = tokenize(as_texts(text(batch, "FastTextTerms")))
        known = list(dict.fromkeys(tokens))
        place = {word: i for i, word in enumerate(known)}
        codes = np.fromiter((place[word] for word in tokens), np.int64, len(tokens))
        there = np.fromiter((self._number(word) for word in known), np.int64, len(known))
        read = there[codes] != LEFT_OUT
        offsets, codes = offsets_of(read)[offsets], codes[read]
        parts = [self._of_words(known, there, codes), self._of_ngrams(known, codes, offsets)]
        owner = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        rows = np.concatenate([np.repeat(owner, sizes) for sizes, _ in parts])
        columns = np.concatenate([found for _, found in parts]).astype(np.int32)
        order = np.argsort(rows, kind="stable")
        sizes = np.bincount(rows, minlength=len(offsets) - 1)
        return CSR(offsets_of(sizes), columns[order], np.ones(len(columns), np.float32), self.columns)

    def _number(self, word: bytes) -> int:
        """The number of a word, UNKNOWN, or LEFT_OUT for a label."""
        found = self._numbers.get(word)
        return found if found is not None else LEFT_OUT if word.startswith(LABEL) else UNKNOWN

    def _of_words(self, known: list[bytes], numbers: Longs, codes: Longs) -> tuple[Longs, Longs]:
        """How many columns each token has, and these: its own, and those of its n-grams of characters."""
        own = numbers >= 0
        at, columns = np.flatnonzero(own), numbers[own]
        terms = self.terms
        if terms.longest >= max(1, terms.shortest):
            cut = (max(1, terms.shortest), terms.longest, terms.buckets)
            inner = pack([b"" if word == END else word for word in known])
            ends, buckets = kernels.subword_buckets(inner.data, inner.offsets, cut)
            sizes = np.diff(ends) * np.array([word != END for word in known], bool)
            owners = np.repeat(np.arange(len(known)), np.diff(ends))
            used, found = self._columns(buckets.astype(np.int64))
            used &= sizes[owners] > 0
            order = np.argsort(np.concatenate([at, owners[used]]), kind="stable")
            at, columns = np.concatenate([at, owners[used]])[order], np.concatenate([columns, found[used]])[order]
        sizes = np.bincount(at, minlength=len(known))
        return sizes[codes], _taken(offsets_of(sizes), columns, codes)

    def _of_ngrams(self, known: list[bytes], codes: Longs, offsets: Longs) -> tuple[Longs, Longs]:
        """How many n-grams of words begin at each token, and their columns."""
        none = np.zeros(len(codes), np.int64), np.zeros(0, np.int64)
        if self.terms.word_ngrams < 2:
            return none
        packed = pack(known)
        hashes = kernels.word_hashes(packed.data, packed.offsets).view(np.int32).astype(np.int64).view(np.uint64)[codes]
        last = np.repeat(offsets[1:], np.diff(offsets))
        tokens, joined, found = np.arange(len(codes)), hashes, list[tuple[Longs, Longs, Longs]]()
        for step in range(1, self.terms.word_ngrams):
            go_on = tokens + step < last[tokens]
            tokens, joined = tokens[go_on], joined[go_on]
            if not len(tokens):
                break
            joined = joined * FACTOR + hashes[tokens + step]
            used, columns = self._columns((joined % np.uint64(self.terms.buckets)).astype(np.int64))
            found.append((tokens[used], np.full(int(used.sum()), step), columns[used]))
        if not found:
            return none
        starts, steps, columns = (np.concatenate(part) for part in zip(*found, strict=True))
        return np.bincount(starts, minlength=len(codes)), columns[np.lexsort((steps, starts))]

    def _columns(self, buckets: Longs) -> tuple[Longs, Longs]:
        """Which of these buckets have a column, and the columns."""
        if self.kept is None:
            return np.ones(len(buckets), bool), buckets + len(self.words)
        kept, targets = self.kept
        at = np.minimum(np.searchsorted(kept, buckets), max(0, len(kept) - 1))
        if not len(kept):
            return np.zeros(len(buckets), bool), buckets
        return kept[at] == buckets, targets[at].astype(np.int64) + len(self.words)

    def state(self) -> State:
        """The settings, the words and labels, and the buckets that were kept."""
        terms = self.terms
        manifest = {"kind": "fasttext", "word_ngrams": terms.word_ngrams, "shortest": terms.shortest}
        manifest |= {"longest": terms.longest, "buckets": terms.buckets, "columns": self.columns}
        tensors: Arrays = {"words.bytes": self.words.data, "words.offsets": self.words.offsets}
        tensors |= {"labels.bytes": self.labels.data, "labels.offsets": self.labels.offsets}
        if self.kept is not None:
            tensors |= {"kept": self.kept[0], "targets": self.kept[1]}
        return State(manifest, tensors)

    @classmethod
    def from_state(cls, state: State) -> FittedFastTextTerms:
        """Restore from the stored state."""
        told = {name: field(state.manifest, name, int) for name in ("word_ngrams", "shortest", "longest", "buckets")}
        columns = field(state.manifest, "columns", int)
        words, labels = _stored_texts(state, "words"), _stored_texts(state, "labels")
        try:
            terms = FastTextTerms(**told)
        except (UsageError, TypeError) as error:
            raise damaged(f"its settings cannot be used ({error})") from error
        found = cls(terms, columns, words, labels, _stored_buckets(state))
        needed = terms.buckets if terms.word_ngrams > 1 or terms.longest > 0 else 0
        if found.kept is not None:
            needed = int(found.kept[1].max(initial=-1)) + 1
        if not len(words) + needed <= columns < MAX_COLUMNS:
            raise damaged("its columns do not fit its words and buckets")
        return found


def tokenize(texts: Texts) -> tuple[Longs, list[bytes]]:
    r"""The words of texts as fastText reads them, with the end of the text, and offsets of the texts.

    >>> tokenize(pack([b"a\tb", b"", b"c </s> d"]))
    (array([0, 3, 4, 6]), [b'a', b'b', b'</s>', b'</s>', b'c', b'</s>'])
    """
    bounds = texts.offsets.tolist()
    found: list[bytes] = []
    ends = []
    for start, stop in pairwise(bounds):
        words = texts.data[start:stop].tobytes().replace(b"\0", b" ").split()
        found += words[: words.index(END)] if END in words else words
        found.append(END)
        ends.append(len(found))
    return np.array([0, *ends], np.int64), found


def _word(texts: Texts, number: int) -> bytes:
    return texts.data[texts.offsets[number] : texts.offsets[number + 1]].tobytes()


def _taken(offsets: Longs, values: Longs, rows: Longs) -> Longs:
    """The values of these rows, one after the other."""
    sizes = np.diff(offsets)[rows]
    first = np.repeat(offsets[rows] - offsets_of(sizes)[:-1], sizes)
    return values[first + np.arange(len(first))]


def _stored_texts(state: State, name: str) -> Texts:
    data, offsets = tensor(state.tensors, f"{name}.bytes", np.uint8), tensor(state.tensors, f"{name}.offsets", np.int64)
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(data) or (np.diff(offsets) < 0).any():
        raise damaged(f"the offsets of {name!r} do not fit its bytes")
    return Texts(data, offsets)


def _stored_buckets(state: State) -> tuple[Ints, Ints] | None:
    if "kept" not in state.tensors:
        return None
    kept, targets = (tensor(state.tensors, name, np.int32) for name in ("kept", "targets"))
    if len(kept) != len(targets) or (np.diff(kept) <= 0).any() or kept.min(initial=0) < 0 or targets.min(initial=0) < 0:
        raise damaged("its buckets are not in order")
    return kept, targets
