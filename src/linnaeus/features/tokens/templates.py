"""Forms of a word: what a template looks at. Each gives one string, or nothing, for every word.

A form is written `[lower.][zeros.]KIND[SIZE]`: the word with its letters lowered, with every digit as 0, then one of

    word      itself                              prefix3   its first 3 characters, if it has so many
    shape     X for upper, x for lower letters,   suffix3   its last 3 characters
              o for others, d for digits          caps      "first", "all" or "mixed", if a letter is upper case
    short     the shape, runs as one: Xx-d        digits    "all", "number" (2.5, 1-0) or "some", if there is a digit
    here      "" for every word                   hyphen    "yes", if there is one

`lower` and `zeros` alone stand for `lower.word` and `zeros.word`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from linnaeus.errors import InputTypeError, UsageError, expect
from linnaeus.frozen import dataclass

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences
    from linnaeus.features.tokens.fitted import FittedTemplates
    from linnaeus.features.tokens.sources import Clusters, Gazetteer


FORMS = {
    "word": 0,
    "shape": 1,
    "short": 2,
    "prefix": 3,
    "suffix": 4,
    "caps": 5,
    "digits": 6,
    "hyphen": 7,
    "here": 8,
}
"""Every kind of form with its number in the kernels."""

SIZED = ("prefix", "suffix")
LOWER, ZEROS = 1, 2
LARGEST = 64
_WRITTEN = re.compile(r"(lower\.)?(zeros\.)?([a-z]+?)(\d*)\Z")


def parse(form: str) -> tuple[int, int, int]:
    """The change before, the kind and the size of a form, as kernels take them.

    >>> parse("lower.suffix3"), parse("lower"), parse("zeros.short")
    ((1, 4, 3), (1, 0, 0), (2, 2, 0))
    """
    whole = {"lower": "lower.word", "zeros": "zeros.word", "lower.zeros": "lower.zeros.word"}.get(form, form)
    found = _WRITTEN.match(whole) if isinstance(form, str) else None
    kind, size = (found[3], found[4]) if found else ("", "")
    if not found or kind not in FORMS or bool(size) != (kind in SIZED):
        known = ", ".join(f"{name}3" if name in SIZED else name for name in FORMS)
        raise UsageError(f"the form {form!r} is not known; write one of {known}, before it lower. or zeros. or both.")
    if size and not 1 <= int(size) <= LARGEST:
        raise UsageError(f"the form {form!r} has a size outside 1 to {LARGEST}; give another.")
    return LOWER * bool(found[1]) + ZEROS * bool(found[2]), FORMS[kind], int(size or 0)


FARTHEST = 100
MOST = 250
"""Templates at most: their numbers are a byte of the keys of pairs."""


@dataclass(frozen=True)
class Part:
    """A part of a template: the form of the source's string at the relative position `at` (-1: the previous token).

    >>> str(Part("suffix3", -1)), str(Part("word", 0, "pos"))
    ('suffix3[-1]', 'pos[0]')
    """

    form: str = "word"
    at: int = 0
    source: str = "word"

    def __post_init__(self) -> None:
        parse(self.form)
        expect("at=", self.at, int)
        expect("source=", self.source, str)
        if not -FARTHEST <= self.at <= FARTHEST:
            raise UsageError(f"at={self.at} is more than {FARTHEST} tokens away; use a smaller distance.")

    def __str__(self) -> str:
        form = self.form if self.source == "word" else self.source + f".{self.form}" * (self.form != "word")
        return f"{form}[{self.at}]"


Template = tuple[Part, ...]


@dataclass(frozen=True)
class Window:
    """Templates with one part: every form at every offset.

    >>> [str(part) for part, in Window(("lower", "shape"), (-1, 0)).templates()]
    ['lower[-1]', 'shape[-1]', 'lower[0]', 'shape[0]']
    """

    forms: tuple[str, ...] = ("word",)
    at: tuple[int, ...] = (0,)
    source: str = "word"

    def __post_init__(self) -> None:
        for name in ("forms", "at"):
            given = getattr(self, name)
            if isinstance(given, str) or not isinstance(given, Sequence):
                raise InputTypeError(f"{name}={given!r} is not a list; give one, such as {[given]!r}.")
            object.__setattr__(self, name, tuple(given))
        self.templates()

    def templates(self) -> list[Template]:
        """One template for each form and offset."""
        return [(Part(form, at, self.source),) for at in self.at for form in self.forms]


@dataclass(frozen=True)
class Pair:
    """A template with two parts: a feature is a pair of strings.

    >>> [" & ".join(map(str, both)) for both in Pair(Part("lower", -1), Part("lower")).templates()]
    ['lower[-1] & lower[0]']
    """

    first: Part
    second: Part

    def __post_init__(self) -> None:
        for part in (self.first, self.second):
            if not isinstance(part, Part):
                raise InputTypeError(f"a Pair takes two Parts, not {part!r}.")

    def templates(self) -> list[Template]:
        """The one template."""
        return [(self.first, self.second)]


ITEMS = {"window": Window, "pair": Pair}
"""Every piece that `Templates` may hold."""


@dataclass(frozen=True)
class Templates:
    """Feature templates of tokens: windows and pairs, and the minimum count of a feature.

    Each template gives a token at most one feature, with value 1. The positions before and after a sentence have the
    strings `<s>` and `</s>`, once for each position, for all forms.

    `sources` are objects that compute columns from the tokens (`Clusters`, `Gazetteer`); the other columns are those of
    the sentences. Templates of a column that the sentences lack are an error; those of the columns in `optional` are
    left out then, and the fitted templates are without them.

    >>> from linnaeus.data.sentences import Sentences
    >>> fitted = Templates((Window(("lower",), (-1, 0)),)).fit(Sentences.from_lists([["A", "dog"], ["a", "cat"]]))
    >>> fitted.names()
    ['lower[-1]=<s>', 'lower[-1]=a', 'lower[0]=a', 'lower[0]=cat', 'lower[0]=dog']
    >>> fitted.rows(Sentences.from_lists([["A", "cow"]])).indices.tolist()
    [0, 2, 1]
    """

    items: tuple[Window | Pair, ...] = (Window(("word",)),)
    min_count: int = 1
    sources: tuple[Clusters | Gazetteer, ...] = ()
    optional: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        for name in ("items", "sources", "optional"):
            if isinstance(getattr(self, name), str):
                raise InputTypeError(f"{name}={getattr(self, name)!r} is not a list; give one.")
            object.__setattr__(self, name, tuple(getattr(self, name)))
        expect("min_count=", self.min_count, int)
        if self.min_count < 1:
            raise UsageError(f"min_count={self.min_count} is less than 1; give at least 1.")
        for item in self.items:
            if type(item) not in ITEMS.values():
                raise InputTypeError(f"Templates take Window and Pair, not {item!r}.")
        from linnaeus.features.tokens.sources import SOURCES

        for piece in self.sources:
            if type(piece) not in SOURCES.values():
                raise InputTypeError(f"sources are {' and '.join(map(str, SOURCES))} pieces, not {piece!r}.")
        names = [piece.name for piece in self.sources]
        if len({"word", *names}) <= len(names):
            raise UsageError(f"the sources make the columns {', '.join(names)}; each needs a name of its own.")
        count = len(self.templates())
        if not 1 <= count <= MOST:
            raise UsageError(f"these are {count} templates; give 1 to {MOST} different ones.")

    def templates(self) -> list[Template]:
        """All templates, each once, in order."""
        return list(dict.fromkeys(template for item in self.items for template in item.templates()))

    def fields(self) -> dict[str, list[str]]:
        """The forms that are needed of each source."""
        found: dict[str, dict[str, None]] = {}
        for part in (part for template in self.templates() for part in template):
            found.setdefault(part.source, {})[part.form] = None
        return {source: list(forms) for source, forms in found.items()}

    def among(self, columns: Iterable[str]) -> Templates:
        """These templates where only these of the optional columns are there.

        >>> both = Templates((Window(), Window(source="upos"), Window(source="xpos")), optional=("upos", "xpos"))
        >>> list(both.among(["upos"]).fields()), both.among([]).optional
        (['word', 'upos'], ())
        """
        there = tuple(name for name in self.optional if name in columns)
        gone = set(self.optional) - set(there)
        kept = [item for item in self.items if not gone & {part.source for one in item.templates() for part in one}]
        if not kept:
            raise UsageError(f"all templates look at {', '.join(sorted(gone))}, which are not there; give others.")
        return replace(self, items=tuple(kept), optional=there)

    def fit(self, sentences: Sentences) -> FittedTemplates:
        """Learn the features that occur at least `min_count` times in these sentences."""
        from linnaeus.features.tokens.fitted import learn

        return learn(replace(self.among(sentences.columns), optional=()), sentences)
