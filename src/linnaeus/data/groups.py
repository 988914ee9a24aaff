"""`Groups`: examples with candidates to choose one from; `AliasTable`: candidates for names that come without."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import ArrayLike

from linnaeus.data.arrow import as_cell
from linnaeus.data.batch import concatenated
from linnaeus.data.memory import refuse_half_pairs
from linnaeus.errors import DataError, InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass
from linnaeus.types import Array, Bools, Choices, Doubles, Label, Longs, Source, groups, offsets_of

ANSWER, CHANCE = "answer", "chance"
"""Columns of examples whose candidates a model proposes: the right one, in words, and the chance of each proposed."""


@dataclass(frozen=True, eq=False)
class Groups:
    """n examples with m candidates in all; example i has the candidates `offsets[i]` to `offsets[i+1]`.

    `columns` (n,) are other columns of the examples, `details` (m,) those of the candidates. `gold` (m,) marks the
    right candidates; if no candidate is right, the answer is "none of these". `costs` (m,) holds the cost of choosing
    each wrong candidate, `weights` (n,) the weights of the examples.

    >>> two = Groups.from_lists(["2 + 2", "capital of France"], [["3", "4"], ["Paris"]], [1, "Paris"])
    >>> len(two), two.answers().tolist(), two.take([1]).candidates.to_pylist()
    (2, [1, 0], ['Paris'])
    """

    offsets: Longs
    text: pa.Array
    candidates: pa.Array
    gold: Bools | None = None
    columns: Mapping[str, pa.Array] = field(default_factory=dict)
    details: Mapping[str, pa.Array] = field(default_factory=dict)
    costs: Doubles | None = None
    weights: Doubles | None = None

    def __post_init__(self) -> None:
        n, m = len(self), int(self.offsets[-1])
        whole = [self.text, *self.columns.values(), *([] if self.weights is None else [self.weights])]
        inner: list[Source] = [self.candidates, *self.details.values()]
        inner += [part for part in (self.gold, self.costs) if part is not None]
        if any(len(part) != n for part in whole) or any(len(part) != m for part in inner):
            raise DataError("The columns of these groups have different lengths; give a value for each row.")

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @property
    def group(self) -> Longs:
        """The example of each candidate (m,)."""
        return np.repeat(np.arange(len(self)), np.diff(self.offsets))

    @classmethod
    def from_lists(
        cls,
        text: Source,
        candidates: Sequence[Sequence[str]],
        answers: Sequence[Label] | None = None,
        columns: Mapping[str, Source] | None = None,
        details: Mapping[str, Source] | None = None,
    ) -> Groups:
        """From lists: a text and a list of candidates for each example.

        An answer is the position of the right candidate from 0, the candidate itself, a list of these, or None.
        """
        if isinstance(text, str) or isinstance(candidates, str):
            raise InputTypeError("Groups takes a list of texts and a list of lists of candidates, not a string.")
        if len(text) != len(candidates):
            raise DataError(
                f"There are {len(text)} texts and {len(candidates)} lists of candidates; give one list for each text."
            )
        offsets = offsets_of([len(one) for one in candidates])
        flat = [one for some in candidates for one in some]
        bad = next((one for one in flat if one is not None and not isinstance(one, str)), None)
        if bad is not None:
            raise InputTypeError(f"A candidate is a string, not {bad!r}; turn it into text.")
        gold = None if answers is None else gold_of(answers, offsets, flat)
        try:
            more = {name: _arrow(values) for name, values in (columns or {}).items()}
            inner = {name: _arrow([one for some in values for one in some]) for name, values in (details or {}).items()}
            return cls(offsets, _strings(text), _strings(flat), gold, more, inner)
        except UnicodeEncodeError:
            for values in (text, candidates, *(columns or {}).values(), *(details or {}).values()):
                refuse_half_pairs(values)
            raise

    def take(self, rows: ArrayLike | slice) -> Groups:
        """These examples, in this order."""
        offsets, at, chosen = groups(self.offsets, rows if isinstance(rows, slice) else np.asarray(rows))
        return replace(
            self,
            offsets=offsets,
            text=self.text.take(pa.array(chosen)),
            candidates=self.candidates.take(pa.array(at)),
            gold=None if self.gold is None else self.gold[at],
            columns={name: values.take(pa.array(chosen)) for name, values in self.columns.items()},
            details={name: values.take(pa.array(at)) for name, values in self.details.items()},
            costs=None if self.costs is None else self.costs[at],
            weights=None if self.weights is None else self.weights[chosen],
        )

    def column(self, name: str) -> pa.Array:
        """A column of the examples; "text" is the text."""
        if name == "text":
            return self.text
        if name not in self.columns:
            there = ", ".join(["text", *self.columns])
            raise UsageError(f"These groups have no column {name!r}; they have {there}.")
        return self.columns[name]

    def answered(self, answers: Sequence[Label]) -> Groups:
        """The same examples with these answers."""
        return replace(self, gold=gold_of(list(answers), self.offsets, self.candidates.to_pylist()))

    def truth(self) -> Choices:
        """Which candidates are right, in the form that losses take."""
        if self.gold is None:
            raise DataError("These groups have no answers; training and tests need an answer for each example.")
        return Choices(self.offsets, self.gold, self.costs, self.weights)

    def answers(self) -> Longs:
        """The position of the first right candidate of each example, from 0; -1 if none is right."""
        truth, found = self.truth(), np.full(len(self), -1, np.int64)
        at = np.flatnonzero(truth.gold)[::-1]
        found[self.group[at]] = at - self.offsets[self.group[at]]
        return found

    def unlisted(self) -> Groups:
        """The same examples without their candidates; the right one stays, as the column `answer`.

        >>> Groups.from_lists(["2 + 2"], [["3", "4"]], ["4"]).unlisted().column("answer").to_pylist()
        ['4']
        """
        columns = dict(self.columns)
        if self.gold is not None:
            places = self.answers()
            at = pa.array(np.where(places < 0, 0, self.offsets[:-1] + places), mask=places < 0)
            columns[ANSWER] = self.candidates.take(at)
        none = pa.array([], pa.string())
        return Groups(np.zeros(len(self) + 1, np.int64), self.text, none, None, columns, weights=self.weights)

    def proposed(self, lists: Sequence[Sequence[tuple[Label, float]]]) -> Groups:
        """The same examples with these candidates, and the chance of each; those that are the `answer` are right.

        >>> one = Groups.from_lists(["2 + 2"], [[]], columns={"answer": ["4"]})
        >>> one.proposed([[("3", 0.25), ("4", 0.75)]]).answers().tolist()
        [1]
        """
        offsets = offsets_of([len(some) for some in lists])
        flat = pa.array([str(name) for some in lists for name, _ in some], pa.string())
        chances = pa.array([float(chance) for some in lists for _, chance in some], pa.float64())
        gold = None
        if ANSWER in self.columns:
            owner = np.repeat(np.arange(len(self)), np.diff(offsets))
            right = pc.equal(flat, self.columns[ANSWER].take(pa.array(owner)).cast(pa.string()))
            gold = pc.fill_null(right, False).to_numpy(zero_copy_only=False)
        return replace(self, offsets=offsets, candidates=flat, gold=gold, details={CHANCE: chances})

    def with_none(self) -> Groups:
        """Add the candidate "none of these" (null) to each example. It is right if no other candidate is."""
        n, at = len(self), self.offsets[1:]
        where = np.insert(np.arange(int(self.offsets[-1])), at, -1)
        taken = pa.array(np.where(where < 0, 0, where), mask=where < 0)
        gold = None if self.gold is None else np.insert(self.gold, at, self.answers() < 0)
        costs = None if self.costs is None else np.insert(self.costs, at, 1.0)
        details = {name: values.take(taken) for name, values in self.details.items()}
        parts = {"gold": gold, "costs": costs, "details": details, "candidates": self.candidates.take(taken)}
        return replace(self, offsets=self.offsets + np.arange(n + 1), **parts)


def join(parts: Sequence[Groups]) -> Groups:
    """Concatenate the parts; columns that a part does not have are null there.

    >>> one = Groups.from_lists(["2 + 2"], [["3", "4"]], [1])
    >>> join([one, one]).answers().tolist()
    [1, 1]
    """
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(name for part in parts for name in (*part.details, *part.columns))
    beside = [name for name in names if not any(_has(part, name) for part in parts)]
    return Groups(
        offsets_of(np.concatenate([np.diff(part.offsets) for part in parts])),
        joined([part.text for part in parts]),
        joined([part.candidates for part in parts]),
        _stacked([_gold_or_none(part, parts) for part in parts]),
        {name: joined([_of_examples(part, name) for part in parts]) for name in names if name not in beside},
        {name: joined([part.details.get(name, pa.nulls(len(part.candidates))) for part in parts]) for name in beside},
        _stacked([part.costs for part in parts]),
        _stacked([part.weights for part in parts]),
    )


def joined(arrays: Sequence[pa.Array]) -> pa.Array:
    """Concatenate arrays; if their types have nothing in common, they become text."""
    try:
        return concatenated(arrays)
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError):
        cells = [as_cell(value) for array in arrays for value in array.to_pylist()]
        return pa.array(cells, pa.string())


def _of_examples(part: Groups, name: str) -> pa.Array:
    """A column of the examples; of what stands beside the candidates, a list for each."""
    if name in part.details:
        return pa.LargeListArray.from_arrays(pa.array(part.offsets, pa.int64()), part.details[name])
    return part.columns.get(name, pa.nulls(len(part)))


def _has(part: Groups, name: str) -> bool:
    """Whether its examples have values there."""
    return name in part.columns and not pa.types.is_null(part.columns[name].type)


def _gold_or_none(part: Groups, parts: Sequence[Groups]) -> Bools | None:
    """Which candidates are right: none, where only other parts have answers."""
    if part.gold is None and any(one.gold is not None for one in parts):
        return np.zeros(len(part.candidates), bool)
    return part.gold


def _stacked(arrays: Sequence[Array | None]) -> Array | None:
    there = [array for array in arrays if array is not None]
    return np.concatenate(there) if len(there) == len(arrays) else None


def gold_of(
    answers: Sequence[Label], offsets: Longs, candidates: Sequence[str | None], rows: Sequence[int] | None = None
) -> Bools:
    """Mark the right candidates. An answer is a position from 0, a candidate's text, a list of these, or None for none.

    `rows` are the row numbers of the examples.
    """
    if len(answers) != len(offsets) - 1:
        raise DataError(f"There are {len(answers)} answers for {len(offsets) - 1} examples; give one for each.")
    gold = np.zeros(int(offsets[-1]), bool)
    for i, answer in enumerate(answers):
        start, end = int(offsets[i]), int(offsets[i + 1])
        for one in answer if isinstance(answer, list | tuple | np.ndarray) else [answer]:
            at = _place(one, candidates[start:end], i + 1 if rows is None else rows[i])
            if at >= 0:
                gold[start + at] = True
    return gold


def gold_of_column(answers: pa.Array, offsets: Longs, candidates: pa.Array) -> Bools | None:
    """The same for a column of places or of words; None where it is neither, or where an answer is wrong.

    >>> words = pa.array(["3", "4", "4", "5"])
    >>> gold_of_column(pa.array(["4", None]), np.array([0, 3, 4]), words).tolist()
    [False, True, False, False]
    >>> gold_of_column(pa.array([2, -1]), np.array([0, 3, 4]), words).tolist()
    [False, False, True, False]
    """
    if len(answers) != len(offsets) - 1:
        return None
    if pa.types.is_signed_integer(answers.type):
        places = _numbered_places(answers, offsets)
    elif pa.types.is_string(answers.type) and pa.types.is_string(candidates.type):
        places = _worded_places(answers, offsets, candidates)
    else:
        return None
    if places is None:
        return None
    gold = np.zeros(int(offsets[-1]), bool)
    gold[places] = True
    return gold


def _numbered_places(answers: pa.Array, offsets: Longs) -> Longs | None:
    at = pc.fill_null(answers.cast(pa.int64()), -1).to_numpy(zero_copy_only=False)
    if ((at < -1) | (at >= np.diff(offsets))).any():
        return None
    return (offsets[:-1] + at)[at >= 0]


def _worded_places(answers: pa.Array, offsets: Longs, candidates: pa.Array) -> Longs | None:
    """Words are compared by numbers, the first candidate with the words of the answer is meant."""
    words = answers.drop_null().unique()
    own, wanted = (pc.fill_null(pc.index_in(some, words), -1).to_numpy() for some in (candidates, answers))
    owner = np.repeat(np.arange(len(answers)), np.diff(offsets))
    places = np.flatnonzero((own == wanted[owner]) & (own >= 0))
    found, first = np.unique(owner[places], return_index=True)
    return places[first] if len(found) == len(answers) - answers.null_count else None


def _place(answer: Label, candidates: Sequence[str | None], row: int) -> int:
    if answer is None or (isinstance(answer, float) and np.isnan(answer)):
        return -1
    if isinstance(answer, str):
        if answer not in candidates:
            raise DataError(f"Row {row}: the answer {answer!r} is not one of its candidates; add it to them.")
        return candidates.index(answer)
    if isinstance(answer, bool) or not isinstance(answer, int | np.integer) or not -1 <= answer < len(candidates):
        what = f"a position from 0 to {len(candidates) - 1}" if candidates else "-1: it has no candidates"
        raise DataError(f"Row {row}: the answer is {answer!r}, but it must be {what}, or the text of a candidate.")
    return int(answer)


def _strings(values: Source) -> pa.Array:
    try:
        found = pa.array(values, pa.string()) if not isinstance(values, pa.Array) else values.cast(pa.string())
    except (pa.ArrowInvalid, pa.ArrowTypeError, pa.ArrowNotImplementedError) as error:
        raise InputTypeError("The texts of groups are strings; turn other values into text.") from error
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _arrow(values: Source) -> pa.Array:
    found = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


@dataclass(frozen=True, eq=False)
class AliasTable:
    """Case-folded names, and how often each name meant each candidate.

    >>> table = AliasTable.of([("Georgia", "Georgia (country)", 7), ("georgia", "Georgia, Texas", 2)])
    >>> table.candidates("GEORGIA")
    [('Georgia (country)', 7.0), ('Georgia, Texas', 2.0)]
    """

    entries: Mapping[str, tuple[tuple[str, float], ...]]

    def __len__(self) -> int:
        return len(self.entries)

    @classmethod
    def of(cls, triples: Iterable[tuple[str, str, float]]) -> AliasTable:
        """From tuples of name, candidate and count; counts of the same pair are added."""
        found: dict[str, dict[str, float]] = defaultdict(dict)
        for alias, candidate, count in triples:
            counts = found[folded(alias)]
            counts[candidate] = counts.get(candidate, 0.0) + count
        return cls({alias: _sorted(counts) for alias, counts in found.items()})

    @classmethod
    def learn(cls, groups: Groups) -> AliasTable:
        """From examples with answers: count the right candidates of each text; others are kept with count 0."""
        gold, texts = groups.truth().gold, groups.text.to_pylist()
        rows = zip(groups.group.tolist(), groups.candidates.to_pylist(), gold.tolist(), strict=True)
        return cls.of((texts[group], candidate, float(right)) for group, candidate, right in rows if candidate)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> AliasTable:
        """From a file, maybe compressed, with a name, a candidate and optionally a count per line, split by tabs."""
        from linnaeus.data.formats.lines import entries

        return cls.of(_triple(parts, where) for where, parts in entries(path))

    def candidates(self, name: str, top: int = 30) -> list[tuple[str, float]]:
        """The candidates of a name, most frequent first."""
        return list(self.entries.get(folded(name), ())[:top])

    def groups(self, mentions: Sequence[str], top: int = 30, columns: Mapping[str, Source] | None = None) -> Groups:
        """The mentions as examples with their candidates; the detail `count` holds the counts.

        A name that is not in the table has no candidates: "none of these" is the answer.
        """
        expect("top", top, int)
        found = [self.candidates(mention, top) for mention in mentions]
        counts = {"count": [[count for _, count in some] for some in found]}
        names = [[candidate for candidate, _ in some] for some in found]
        return Groups.from_lists(list(mentions), names, columns=columns, details=counts)

    def recall(self, groups: Groups, top: int = 30) -> float:
        """The share of examples whose right candidate is among those the table gives."""
        texts, words = groups.text.to_pylist(), groups.candidates.to_pylist()
        right = np.flatnonzero(groups.truth().gold)
        met = {
            int(groups.group[at]) for at in right if words[at] in dict(self.candidates(texts[groups.group[at]], top))
        }
        return len(met) / max(len(groups), 1)


def folded(name: str) -> str:
    """A name in the table's form: case-folded, one space between words."""
    return " ".join(name.casefold().split())


def _sorted(counts: Mapping[str, float]) -> tuple[tuple[str, float], ...]:
    """The most frequent first, by name among equals."""
    return tuple(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _triple(parts: list[str], where: str) -> tuple[str, str, float]:
    try:
        alias, candidate, count = (*parts, "1")[:3] if len(parts) in (2, 3) else (*parts,)
        found = float(count)
    except ValueError:
        found = -1.0
    if not 0 <= found < float("inf"):
        raise DataError(f"{where}: a line needs a name, a candidate and a count from 0 up, separated by tabs.")
    return alias, candidate, found
