"""Texts to terms, terms to columns: twins of the kernels that hash, count and look up the terms of a plan.

A term of words is a tuple of tokens, a term of characters a tuple of one string; all are UTF-8 bytes.

The feature hash is fixed for ever by the test vectors in tests/kernels/test_hash.py; see native/hash.hpp.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import TypeAlias

import numpy as np

from linnaeus.kernels.hashes import GAP, K0, K1, K2, K3, fold, hash_join
from linnaeus.kernels.plan import UNITS, Plan, checked
from linnaeus.kernels.reference.rows import Rows, outside, refuse
from linnaeus.kernels.reference.tokens import change_case, join, texts_of, tokens_of
from linnaeus.types import Bytes, Doubles, Ints, Longs, offsets_of

Grams: TypeAlias = tuple[Ints, Ints, Longs, Longs]


def _load(data: bytes) -> int:
    return int.from_bytes(data, "little")


def hash_bytes(text: bytes) -> int:
    """64 bits for a token.

    >>> hash_bytes(b"a") != hash_bytes(b"b")
    True
    """
    n = len(text)
    if n <= 8:
        return fold(_load(text) ^ K0, K1 ^ n)
    h = K2 ^ n
    for i in range(0, n - 16, 16):
        h = fold(_load(text[i : i + 8]) ^ K0 ^ h, _load(text[i + 8 : i + 16]) ^ K1)
    first = text[:8] if n < 16 else text[n - 16 : n - 8]
    h = fold(_load(first) ^ K0 ^ h, _load(text[n - 8 :]) ^ K1)
    return fold(h ^ K3, K1)


MOST_CLASSES = 65536
Term: TypeAlias = tuple[bytes, ...]
SPACES = re.compile(r"\s\s+")


def terms_of(text: str, plan: Plan) -> list[Term]:
    """Every term of the text, as often as it occurs."""
    plan = Plan(*plan)
    if plan.unit == UNITS["across"]:
        whole = SPACES.sub(" ", change_case(text, plan.case))
        return [(gram.encode(),) for gram in _grams(whole, plan)]
    words = tokens_of(text, plan.case, plan.tokenizer)
    if plan.unit == UNITS["words"]:
        return [tuple(words[i : i + n]) for n in range(plan.low, plan.high + 1) for i in range(len(words) - n + 1)]
    if plan.unit == UNITS["skips"]:
        return [(a, b) for i, a in enumerate(words) for b in words[i + 2 : i + 2 + plan.gap]]
    left, right = "<>" if plan.unit == UNITS["subwords"] else "  "
    padded = (left + word.decode("utf-8", "surrogateescape") + right for word in words)
    return [(gram.encode("utf-8", "surrogateescape"),) for word in padded for gram in _grams(word, plan)]


def _grams(text: str, plan: Plan) -> Iterator[str]:
    """Character n-grams: whole padded words count once where they are shorter, subwords always include the word."""
    whole, inside = plan.unit == UNITS["subwords"], plan.unit == UNITS["inside"]
    if whole:
        yield text
    for n in range(plan.low, plan.high + 1):
        if n > len(text) or (whole and n == len(text)):
            if inside and text:
                yield text
            break
        yield from (text[i : i + n] for i in range(len(text) - n + 1))
        if inside and n == len(text):
            break


def hash_term(term: Term, plan: Plan) -> int:
    """The 64 bits of a term: its column is in the lowest, its sign in the topmost."""
    value = hash_bytes(term[0])
    if plan.unit == UNITS["skips"]:
        value = hash_join(value, GAP)
    for token in term[1:]:
        value = hash_join(value, hash_bytes(token))
    return value


def to_rows(counts: Sequence[Mapping[int, int]]) -> Rows:
    """The arrays of a CSR matrix from column-to-count dicts; zeros are left out."""
    cells = [sorted((column, value) for column, value in row.items() if value) for row in counts]
    columns = np.array([column for row in cells for column, _ in row], np.int32)
    indptr = offsets_of([len(row) for row in cells])
    return indptr, columns, np.array([value for row in cells for _, value in row], np.float32)


def hash_terms(data: Bytes, offsets: Longs, plan: Plan, bits: int, signed: bool, _threads: int) -> Rows:
    """Counts, or sums of signs, of the terms in the 2^bits columns they are hashed to."""
    refuse(not 1 <= bits <= 30, "hash_terms: bits run from 1 to 30")
    plan, rows = checked(plan), []
    for text in texts_of(data, offsets):
        row: defaultdict[int, int] = defaultdict(int)
        for term in terms_of(text, plan):
            value = hash_term(term, plan)
            row[value & ((1 << bits) - 1)] += -1 if signed and value >> 63 else 1
        rows.append(row)
    return to_rows(rows)


class TermCounter:
    """Counts the distinct terms of a stream of texts; see native/count_terms.cpp."""

    def __init__(self, plan: Plan, record: bool) -> None:
        """An empty counter for the terms of this plan, which may record what `replay` needs."""
        self._plan, self._record = checked(plan), record
        self._counts: Counter[Term] = Counter()
        self._documents: Counter[Term] = Counter()
        self._recorded: list[list[Term]] = []
        self._orders: list[list[Term]] | None = None
        self._classes = 0
        self._labels: list[int] = []

    def add(self, data: Bytes, offsets: Longs, _threads: int) -> None:
        """Count the terms of these texts, and those of every order that the longer ones begin with."""
        refuse(self._orders is not None, "add: a finished counter takes no more texts")
        refuse(self._classes, "add: the texts of this counter have labels")
        self._count(data, offsets, self._record)

    def add_labeled(self, data: Bytes, offsets: Longs, labels: Ints, k: int, _threads: int) -> None:
        """The same of texts of words that belong to one of k classes each, for which terms are counted too."""
        taken = self._orders is not None or self._record
        refuse(taken, "add_labeled: a counter that records or is finished takes no labels")
        refuse(self._plan.unit != UNITS["words"], "add_labeled: only n-grams of words are counted by class")
        if not 1 <= k <= MOST_CLASSES or (self._classes != k if self._classes else self._documents):
            raise ValueError("add_labeled: all texts have one of the same k classes")
        refuse(len(labels) != len(offsets) - 1, "add_labeled: there must be a label for each text")
        refuse(outside(labels, k), "add_labeled: a label is no class")
        self._classes = k
        self._labels += labels.tolist()
        self._count(data, offsets, True)

    def _count(self, data: Bytes, offsets: Longs, record: bool) -> None:
        plan = self._plan
        for text in texts_of(data, offsets):
            terms = terms_of(text, plan)
            if plan.unit == UNITS["words"]:
                terms = terms_of(text, plan._replace(low=1))
            elif plan.unit == UNITS["skips"]:
                terms += [(token,) for token in tokens_of(text, plan.case, plan.tokenizer)]
            self._counts.update(terms)
            self._documents.update(set(terms))
            if record:
                self._recorded.append(terms)

    def finish(self, least: int, _threads: int) -> tuple[Bytes, Longs, Longs, Longs, list[Grams], int]:
        """(token bytes, offsets, documents, counts, [(parents, tokens, documents, counts) for n = 2 ...], left out).

        Terms that stand in fewer than `least` texts are left out, but tokens only where some stay; the last number says
        how often those left out occur that are as long as the plan wants terms to be.
        """
        refuse(self._orders is not None, "finish: a counter is finished once")
        high = self._plan.high if self._plan.of_words else 1
        orders = [sorted(t for t in self._counts if len(t) == n) for n in range(1, high + 1)]
        frequent = [[term for term in order if self._documents[term] >= least] for order in orders]
        frequent[0] = frequent[0] or orders[0]
        left_out = self._occurrences(orders) - self._occurrences(frequent)
        orders, tokens = frequent, frequent[0]
        rank = {token: i for i, (token,) in enumerate(tokens)}
        joined, offsets = join([token for (token,) in tokens])
        grams = [self._order(before, order, rank) for before, order in pairwise(orders)]
        documents, counts = self._statistics(tokens)
        self._orders, self._counts, self._documents = orders, Counter(), Counter()
        return joined, offsets, documents, counts, grams, left_out

    def replay(self, columns: Ints, layout: tuple[int, int], _threads: int) -> Rows:
        """The rows of the recorded texts, where term i (tokens first, then n = 2 ...) has columns[i]."""
        refuse(self._orders is None or not self._record, "replay: nothing is recorded and finished")
        rows = self._play("replay", "matrix", columns, layout)
        self._record = False
        return to_rows(rows)

    def tally(self, columns: Ints, layout: tuple[int, int]) -> Doubles:
        """How much of each column the texts of each class hold (width, k), flat, with columns as in `replay`."""
        refuse(self._orders is None or not self._classes, "tally: nothing is counted by class and finished")
        sums = np.zeros((max(layout[0], 0), self._classes))
        for label, row in zip(self._labels, self._play("tally", "table", columns, layout), strict=True):
            for column, count in row.items():
                sums[column, label] += count
        self._classes = 0
        return sums.ravel()

    def _play(self, name: str, what: str, columns: Ints, layout: tuple[int, int]) -> list[Counter[int]]:
        """The counts of each recorded text by column."""
        width, unknown = layout
        refuse(unknown >= width, f"{name}: the unknown column is outside the {what}")
        terms = [term for order in self._orders or [] for term in order]
        refuse(len(columns) != len(terms), f"{name}: there must be a column for each term")
        refuse((columns >= width).any(), f"{name}: a column is outside the {what}")
        column = {term: c for term, c in zip(terms, columns.tolist(), strict=True) if c >= 0}
        shortest = self._plan.low if self._plan.of_words else 1
        rows = []
        for recorded in self._recorded:
            found: Counter[int] = Counter()
            for term in recorded:
                if term in column and (len(term) == 1 or len(term) >= shortest):
                    found[column[term]] += 1
                elif len(term) == 1 and unknown >= 0:
                    found[unknown] += 1
            rows.append(found)
        self._recorded = []
        return rows

    def _occurrences(self, orders: list[list[Term]]) -> int:
        shortest = self._plan.low if self._plan.of_words else 1
        return sum(self._counts[term] for order in orders[shortest - 1 :] for term in order)

    def _order(self, before: list[Term], order: list[Term], rank: dict[bytes, int]) -> Grams:
        place = {term: i for i, term in enumerate(before)}
        parents = np.array([place[term[:-1]] for term in order], np.int32)
        last = np.array([rank[term[-1]] for term in order], np.int32)
        return parents, last, *self._statistics(order)

    def _statistics(self, terms: list[Term]) -> tuple[Longs, Longs]:
        documents = np.array([self._documents[term] for term in terms], np.int64)
        return documents, np.array([self._counts[term] for term in terms], np.int64)
