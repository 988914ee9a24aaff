"""Which terms a text has, and where: n-grams of words or characters under one analysis."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import pyarrow as pa

from linnaeus.data.batch import Batch
from linnaeus.errors import DataError, UsageError, damaged_or_newer
from linnaeus.features.batches import NO_TEXTS
from linnaeus.frozen import dataclass
from linnaeus.kernels.plan import EDGE, UNITS, Plan
from linnaeus.text import Analysis, as_texts
from linnaeus.text.normalize import Aligned, replaced
from linnaeus.types import Json, Texts

Term: TypeAlias = tuple[bytes, ...]
Placed: TypeAlias = tuple[Term, int, int]
"""A term and the characters it stands on."""

JOINTS = {"words": " ", "skips": " _ "}


@dataclass(frozen=True)
class Grams:
    """n-grams of `low` to `high` units (a name of `kernels.UNITS`); skip-grams over at most `gap` words."""

    analysis: Analysis
    unit: str
    low: int
    high: int
    gap: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.low <= self.high <= 64:
            raise UsageError(f"n-grams must have 1 to 64 units, not {self.low} to {self.high}.")
        if not (self.unit == "skips") <= self.gap <= 64:
            raise UsageError(f"A skip-gram must skip 1 to 64 words, not {self.gap}.")

    @property
    def plan(self) -> Plan:
        """What the kernels follow."""
        return Plan(UNITS[self.unit], *self.analysis.codes, self.low, self.high, self.gap)

    def texts(self, batch: Batch) -> Texts:
        """The texts of a batch, ready for the kernels."""
        return self.analysis.prepare(as_texts(self._given(batch)))

    def strings(self, batch: Batch) -> list[str]:
        """The texts of a batch as Python strings."""
        return self._given(batch).to_pylist()

    def _given(self, batch: Batch) -> pa.Array:
        if batch.text is None:
            raise DataError(f"These features need texts, {NO_TEXTS}")
        return batch.text

    @property
    def joint(self) -> str:
        """What stands between the tokens of a term in its name."""
        return JOINTS.get(self.unit, "")

    def name(self, term: Term) -> str:
        """A term as it is shown; bytes that are no UTF-8, where each byte is a token, in Python's escapes.

        The edges of a text are shown as ^ and $, which are no words.
        """
        words = [token.decode("utf-8", "backslashreplace") for token in term]
        if self.analysis.tokenizer == "edges":
            words = [("$" if i else "^") if word == EDGE else word for i, word in enumerate(words)]
        return self.joint.join(words)

    def term(self, name: str) -> Term:
        """The term that is shown like this."""
        words = name.split(self.joint) if self.plan.of_words else [name]
        if self.analysis.tokenizer == "edges":
            words = [EDGE if word == ("$" if i else "^") else word for i, word in enumerate(words)]
        return tuple(word.encode() for word in words)

    def placed(self, text: str) -> list[Placed]:
        """Every term of one text with the characters of the original it stands on."""
        placed = {"words": _words, "skips": _skips}.get(self.unit, _characters)
        return list(placed(self, text))

    def manifest(self) -> dict[str, Json]:
        """The settings as JSON, with the version of Unicode they were used under."""
        return {
            "analysis": self.analysis.manifest(),
            "unit": self.unit,
            "sizes": [self.low, self.high, self.gap],
            "unicode": unicodedata.unidata_version,
        }

    @classmethod
    def from_manifest(cls, manifest: Json) -> Grams:
        """Restore from the manifest."""
        try:
            low, high, gap = (int(size) for size in manifest["sizes"])
            if manifest["unit"] not in UNITS:
                raise UsageError(f"no unit {manifest['unit']!r}")
            return cls(Analysis.from_manifest(manifest["analysis"]), manifest["unit"], low, high, gap)
        except (KeyError, TypeError, ValueError) as error:
            raise damaged_or_newer("its n-grams are not known") from error


def _words(grams: Grams, text: str) -> Iterator[Placed]:
    if grams.analysis.tokenizer == "bytes":
        aligned = grams.analysis.align(text)
        bytes_ = ((i, byte) for i, char in enumerate(aligned.text) for byte in char.encode())
        found = [(bytes([byte]), *aligned.span(i, i + 1)) for i, byte in bytes_]
    else:
        found = [(token.text.encode(), token.start, token.end) for token in grams.analysis.spans(text)]
    for n in range(grams.low, grams.high + 1):
        for i in range(len(found) - n + 1):
            part = found[i : i + n]
            yield tuple(t for t, _, _ in part), min(s for _, s, _ in part), max(e for _, _, e in part)


def _skips(grams: Grams, text: str) -> Iterator[Placed]:
    found = grams.analysis.spans(text)
    for i, first in enumerate(found):
        for last in found[i + 2 : i + 2 + grams.gap]:
            yield (first.text.encode(), last.text.encode()), min(first.start, last.start), max(first.end, last.end)


def _characters(grams: Grams, text: str) -> Iterator[Placed]:
    for aligned in _stretches(grams, grams.analysis.align(text)):
        for n in _sizes(grams, len(aligned.text)):
            for i in range(len(aligned.text) - n + 1):
                yield (aligned.text[i : i + n].encode(),), *aligned.span(i, i + n)


def _sizes(grams: Grams, length: int) -> Sequence[int]:
    """How many characters the terms of a stretch of text have."""
    if grams.unit == "subwords":
        return [length, *range(grams.low, min(grams.high, length - 1) + 1)]
    return range(grams.low, min(grams.high, length) + 1) or [length] * (grams.unit == "inside")


def _stretches(grams: Grams, aligned: Aligned) -> Iterator[Aligned]:
    """What terms do not leave: the text, or words with a mark at both ends, which stands on the character beside it."""
    if grams.unit == "across":
        from linnaeus.kernels.reference.terms import SPACES

        yield aligned.rewrite(replaced(SPACES, lambda _: " ", aligned.text))
        return
    left, right = "<>" if grams.unit == "subwords" else "  "
    for start, end in grams.analysis.cut(aligned.text):
        starts = (aligned.starts[start], *aligned.starts[start:end], aligned.starts[end - 1])
        ends = (aligned.ends[start], *aligned.ends[start:end], aligned.ends[end - 1])
        yield Aligned(left + aligned.text[start:end] + right, starts, ends)
