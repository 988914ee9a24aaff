"""The explanation of a prediction, of any task, as frozen records; and as one JSON object.

Offsets count characters (Unicode code points) of the original text.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError
from linnaeus.frozen import dataclass
from linnaeus.types import Crowding, Doubles, Json

if TYPE_CHECKING:
    from linnaeus.explain.found import Found
    from linnaeus.explain.models import Kind
    from linnaeus.explain.words import WordRow
    from linnaeus.render import Glyphs, Marks, Page


@dataclass(frozen=True, slots=True)
class Spot:
    """Characters start to end (end excluded) of the original text, and what they add to a score.

    >>> Spot(start=2, end=6, contribution=0.5)
    Spot(start=2, end=6, contribution=0.5)
    """

    start: int
    end: int
    contribution: float


@dataclass(frozen=True, slots=True)
class Part:
    """A feature's part in a score: value times weight, divided over the spots where the feature stands.

    `terms` are the terms of this text that share a hashed column; more than one of them is a collision.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> part = max(why.reason().parts(), key=lambda part: part.contribution)
    >>> part.name, abs(part.value * part.weight - part.contribution) < 1e-6
    ('good', True)
    """

    name: str
    column: int
    value: float
    weight: float
    contribution: float
    spots: tuple[Spot, ...] = ()
    terms: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Reason:
    """The score of a class as bias + sum of contributions; `against` names the other class of a comparison.

    `standing` is the number that the output space ranks the class by: the score, except for one-vs-one by votes.
    `probability` is that of the class, None if the model gives none.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> reason = why.reason()
    >>> abs(reason.bias + sum(part.contribution for part in reason.parts()) - reason.score) < 1e-5
    True
    """

    name: str
    score: float
    bias: float
    weights: Doubles
    found: Found
    standing: float
    against: str | None = None
    probability: float | None = None

    @property
    def contributions(self) -> Doubles:
        """Value times weight of each feature (f,)."""
        return self.found.values * self.weights

    @property
    def unplaced(self) -> float:
        """The contribution of features that occur nowhere in the text: further columns, lengths."""
        return float(self.contributions @ (1.0 - self.found.placed))

    def characters(self) -> Doubles:
        """The contribution of each character of the text; with `unplaced` and `bias` they add up to the score."""
        return self.found.over_characters(self.contributions)

    def segments(self) -> tuple[Spot, ...]:
        """The contribution of each word, and of each character between words, from left to right."""
        spans = self.found.spans
        if not spans:
            return ()
        sums = np.add.reduceat(self.characters(), [start for start, _ in spans])
        return tuple(Spot(*span, amount) for span, amount in zip(spans, sums.tolist(), strict=True))

    def words(self) -> list[WordRow]:
        """The contribution of each word, with its character n-grams; the largest comes first."""
        from linnaeus.explain.words import word_rows

        return word_rows(self)

    def parts(self, k: int | None = None) -> tuple[Part, ...]:
        """The k features with the largest contributions in absolute value; equal ones in the order of columns."""
        contributions, found = self.contributions, self.found
        order = np.lexsort((found.columns, -np.abs(contributions)))[:k]
        spots: dict[int, list[Spot]] = {int(i): [] for i in order}
        there = np.flatnonzero(np.isin(found.owners, order))
        amounts = found.over_places(contributions)
        for i in there.tolist():
            spot = Spot(int(found.starts[i]), int(found.ends[i]), float(amounts[i]))
            spots[int(found.owners[i])].append(spot)
        return tuple(
            Part(
                found.names[i],
                int(found.columns[i]),
                float(found.values[i]),
                float(self.weights[i]),
                float(contributions[i]),
                tuple(spots[i]),
                found.terms[i],
            )
            for i in order.tolist()
        )


def contrast_of(first: Reason, second: Reason, rest: float = 1.0) -> Reason:
    """The first reason minus `rest` times the second; they differ in the weights of features, or else in the values."""
    same = first.found is second.found
    return Reason(
        first.name,
        first.score - rest * second.score,
        first.bias - rest * second.bias,
        first.weights - rest * second.weights if same else first.weights,
        first.found if same else replace(first.found, values=first.found.values - rest * second.found.values),
        first.standing - rest * second.standing,
        against=second.name,
    )


@dataclass(frozen=True, slots=True)
class Flip:
    """Words whose removal changes the prediction to `predicted`.

    `minimal` is True if every smaller set of words was tried; `scored` counts the texts that were scored. `words`
    are spans of the text, `text` is what remains of it.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> [why.text[a:b] for a, b in why.flip.words], why.flip.predicted
    (['good'], ('neg',))
    """

    words: tuple[tuple[int, int], ...]
    predicted: tuple[str, ...]
    minimal: bool
    scored: int
    text: str


@dataclass(frozen=True, slots=True)
class Neighbor:
    """A training example that is similar to the row.

    >>> Neighbor("a fine film", "pos", similarity=0.8).label
    'pos'
    """

    text: str
    label: str
    similarity: float
    row: int | None = None


@dataclass(frozen=True, eq=False, repr=False)
class Explanation:
    """The explanation of a prediction of any task; `kind` is one (class), many (labels), number, tag, arc or candidate.

    `reasons` has the predicted class first, then the second class, then the requested classes; for label sets the
    predicted labels, then the best other label; for numbers each target; for tags and candidates the predicted one and
    the runner-up. `contrast` is the first minus the second. `at` are the characters of the token that is tagged, `svg`
    is a picture of the answer where there is one. `path` are the branches of a label tree that lead to the answer, from
    the root: why each was taken.
    If it is not `exact`, a part is a word (of a tag or a candidate: a feature), and its contribution is the score minus
    that without it.

    >>> from linnaeus import TextClassifier
    >>> texts, labels = ["a good film", "a bad film", "good", "bad"] * 3, ["pos", "neg"] * 6
    >>> model = TextClassifier("logistic").fit(texts, labels)
    >>> why = model.explain("a good film")
    >>> why.predicted, [reason.name for reason in why.reasons]
    (('pos',), ['pos', 'neg'])
    """

    kind: Kind
    found: Found
    predicted: tuple[str, ...]
    reasons: tuple[Reason, ...]
    contrast: Reason | None = None
    flip: Flip | None = None
    tables: tuple[Crowding, ...] = ()
    neighbors: tuple[Neighbor, ...] = ()
    exact: bool = True
    at: tuple[int, int] | None = None
    svg: str = ""
    path: tuple[Reason, ...] = ()

    @property
    def lead(self) -> Reason:
        """The reason that comes first: of tags, arcs and candidates, what decides between it and the runner-up."""
        alone = self.kind not in ("tag", "arc", "candidate") or self.contrast is None
        return self.reasons[0] if alone or self.contrast is None else self.contrast

    @property
    def text(self) -> str:
        """The original text; empty for a row without text."""
        return self.found.text

    def with_probabilities(self, probabilities: Mapping[str, float]) -> Explanation:
        """The same explanation with the probabilities of the classes."""
        reasons = tuple(replace(reason, probability=probabilities.get(reason.name)) for reason in self.reasons)
        return replace(self, reasons=reasons)

    def reason(self, name: str | None = None) -> Reason:
        """The reason of this class; without a name, that of the first."""
        if name is None:
            return self.reasons[0]
        for reason in self.reasons:
            if reason.name == name:
                return reason
        raise UsageError(
            f"The explanation does not cover {name!r}; request it with explain(row, model, classes=[{name!r}])."
        )

    @property
    def two_sided(self) -> bool:
        """Whether the comparison with the second class adds nothing: one score for two classes."""
        return self.contrast is not None and np.array_equal(self.contrast.contributions, self.reasons[0].contributions)

    @property
    def collisions(self) -> tuple[Part, ...]:
        """The hashed features that several terms of this text share, for the first class."""
        return tuple(part for part in self.reasons[0].parts() if len(part.terms) > 1)

    def __repr__(self) -> str:
        """A short form, without the arrays."""
        from linnaeus.explain.pages import headline

        return f"<Explanation of {headline(self)}>"

    def page(self, glyphs: Glyphs, marks: Marks | None = None, parts: int = 10, detail: bool = False) -> Page:
        """The page that the command line shows: the `parts` largest contributions; `marks` highlight the text."""
        from linnaeus.explain.pages import explanation_page
        from linnaeus.render import PLAIN

        return explanation_page(self, glyphs, marks or PLAIN, parts, detail)

    def __str__(self) -> str:
        """The page that the command line shows."""
        from linnaeus.render import UNICODE

        return self.page(UNICODE).plain(80)

    def _repr_html_(self) -> str:
        """Highlighted text in a notebook."""
        return self.to_html()

    def to_html(self, parts: int = 10) -> str:
        """HTML that needs no other files, with the `parts` largest contributions; each word opens to its features."""
        from linnaeus.explain.pages import explanation_html

        return explanation_html(self, parts)

    def to_json(self, parts: int | None = None) -> dict[str, Json]:
        """One JSON object with character offsets; all features, or the `parts` largest for any of the classes."""
        contrast, flip = self.contrast, self.flip
        return {
            "schema": SCHEMA,
            "unit": "characters",
            "text": self.text,
            "kind": self.kind,
            "exact": self.exact,
            "at": None if self.at is None else _span_json(self.text, self.at),
            "predicted": list(self.predicted),
            "classes": [_class_json(reason) for reason in self.reasons],
            "path": [_class_json(reason) for reason in self.path],
            "segments": _segments_json(self),
            "features": _features_json(self, parts),
            "contrast": {**_class_json(contrast), "against": contrast.against} if contrast else None,
            "flip": _flip_json(self.text, flip) if flip else None,
            "tables": [table._asdict() for table in self.tables],
            "neighbors": [asdict(neighbor) for neighbor in self.neighbors],
        }


SCHEMA = "linnaeus.explanation/1"
"""The version of the JSON form; within it keys are only ever added."""


def _class_json(reason: Reason) -> dict[str, Json]:
    names = ("name", "score", "bias", "standing", "unplaced", "probability")
    return {name: getattr(reason, name) for name in names}


def _segments_json(explanation: Explanation) -> list[Json]:
    """The whole text, word by word, with what each piece adds to each class."""
    columns = [reason.segments() for reason in explanation.reasons]
    names = [reason.name for reason in explanation.reasons]
    return [
        {
            "start": spots[0].start,
            "end": spots[0].end,
            "text": explanation.text[spots[0].start : spots[0].end],
            "contributions": dict(zip(names, (spot.contribution for spot in spots), strict=True)),
        }
        for spots in zip(*columns, strict=True)
    ]


def _features_json(explanation: Explanation, parts: int | None) -> list[Json]:
    """Every feature, or the largest ones for any class, by the largest contribution; shares of its places."""
    found, reasons = explanation.found, explanation.reasons
    C = np.array([reason.contributions for reason in reasons])
    order = np.lexsort((found.columns, -np.abs(C).max(axis=0)))[:parts].tolist()
    places: dict[int, list[Json]] = {i: [] for i in order}
    rows = zip(found.owners.tolist(), found.starts.tolist(), found.ends.tolist(), found.shares.tolist(), strict=True)
    for owner, start, end, share in rows:
        if owner in places:
            places[owner].append({"start": start, "end": end, "share": share})
    return [
        {
            "name": found.names[i],
            "column": int(found.columns[i]),
            "value": float(found.values[i]),
            "terms": list(found.terms[i]),
            "places": places[i],
            "contributions": {reason.name: float(C[c, i]) for c, reason in enumerate(reasons)},
        }
        for i in order
    ]


def _span_json(text: str, span: tuple[int, int]) -> Json:
    start, end = span
    return {"start": start, "end": end, "text": text[start:end]}


def _flip_json(text: str, flip: Flip) -> Json:
    words = [_span_json(text, span) for span in flip.words]
    return {**asdict(flip), "words": words, "predicted": list(flip.predicted)}
