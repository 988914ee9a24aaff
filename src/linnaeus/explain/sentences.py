"""Shared parts of pages and HTML of an explanation: the highlighted text, and its sentences."""

from __future__ import annotations

from collections.abc import Iterator

from linnaeus.explain.records import Explanation, Flip, Reason, Table
from linnaeus.render import Tint, percent

SHOWN = 5
"""The maximum number of collisions that are listed."""


def signed(amount: float) -> str:
    """A contribution: always with its sign.

    >>> signed(0.5), signed(-1.25), signed(0.0)
    ('+0.500', '-1.250', '+0.000')
    """
    return f"{amount + 0.0:+.3f}" if abs(amount) < 1000 else f"{amount:+,.0f}"


def shown(name: str) -> str:
    """The name of a feature; in quotes if it begins or ends with white space.

    >>> shown("good"), shown(" go")
    ('good', "' go'")
    """
    return name if name and name == name.strip() else f"'{name}'"


def tints(reason: Reason) -> list[Tint]:
    """The text word by word; the strength of a word is its contribution relative to the largest."""
    spots = reason.segments()
    top = max((abs(spot.contribution) for spot in spots), default=0.0) or 1.0
    text = reason.found.text
    return [
        Tint(
            text[s.start : s.end],
            s.contribution / top,
            f"{signed(s.contribution)} {reason.name}" if s.contribution else "",
        )
        for s in spots
    ]


def headline(explanation: Explanation) -> str:
    """The prediction in one line."""
    reasons = explanation.reasons
    if explanation.kind == "number":
        return "; ".join(f"{reason.name}: {reason.score:.4g}" for reason in reasons)
    said = [_standing(reason) for reason in reasons if reason.name in explanation.predicted]
    answer = ("; " if explanation.kind == "many" else ", ").join(said) or "no prediction"
    others = [reason for reason in reasons if reason.name not in explanation.predicted]
    if not others or explanation.two_sided:
        return answer
    return f"{answer}; next {'; '.join(map(_standing, others))}"


def _standing(reason: Reason) -> str:
    """A class with its probability, or where there is none with its score."""
    if reason.probability is None:
        return f"{reason.name} (score {signed(reason.standing)})"
    return f"{reason.name} ({chance(reason.probability)})"


def chance(probability: float) -> str:
    """A probability in percent; only 0 and 1 are shown as 0 % and 100 %.

    >>> chance(0.98765), chance(0.99999), chance(1e-9)
    ('98.8 %', '>99.9 %', '<0.1 %')
    """
    return ">99.9 %" if 0.9995 <= probability < 1 else percent(probability)


def sentences(explanation: Explanation) -> Iterator[str]:
    """Notes: whether it is exact, what would change the prediction, collisions of hashed features."""
    if not explanation.exact:
        yield "Approximate, since the model is not linear: each contribution is the score minus that without the word."
    if explanation.flip:
        yield flip_sentence(explanation.text, explanation.flip)
    collisions = explanation.collisions
    for part in collisions[:SHOWN]:
        terms = ", ".join(f"'{term}'" for term in part.terms)
        yield f"Collision: {terms} share column {part.column}, and so one weight."
    if len(collisions) > SHOWN:
        yield f"{len(collisions) - SHOWN:,} more collisions within this text."
    for table in explanation.tables:
        yield table_sentence(table)


def flip_sentence(text: str, flip: Flip) -> str:
    """The words whose removal changes the prediction.

    >>> flip_sentence("not good", Flip(((0, 3),), ("pos",), True, 2, " good"))
    "Without 'not' the prediction would be pos; no smaller set changes it."
    """
    gone = ", ".join(repr(text[start:end]) for start, end in flip.words)
    answer = ", ".join(flip.predicted) or "none"
    proof = "no smaller set changes it" if flip.minimal else "a smaller set may change it too"
    return f"Without {gone} the prediction would be {answer}; {proof}."


def table_sentence(table: Table) -> str:
    """The load of a table of hashed features.

    >>> table_sentence(Table(1024, 512, 200))
    'Hashed features: 512 training terms in 1,024 columns, 39.1 % of them share theirs with another term.'
    """
    if not table.terms:
        return (
            f"Hashed features: {table.columns:,} columns; which training terms share one is not known "
            "(Hashed(keep_names=True) keeps track)."
        )
    shared = percent((table.sharing or 0) / table.terms)
    return (
        f"Hashed features: {table.terms:,} training terms in {table.columns:,} columns, "
        f"{shared} of them share theirs with another term."
    )
