r"""Edit scripts: how a lemma is made from the form of its word. A tagger learns them as classes.

A script keeps a part of the form and changes what stands before and behind it (Chrupala 2006; the rules of lemmas of
UDPipe are of this kind, Straka and Strakova 2017). It is written as a case of letters, and the changes at both ends:

    lower $3+y     parties > party        the form in lower case, its last 3 characters replaced by y
    lower          The > the              the form in lower case
    keep $1        Americans > American   the form as it is, without its last character
    title          PARIS > Paris          the first letter in upper case, the others in lower case
    upper          nato > NATO            all letters in upper case
    lower ^2 $1+en gemacht > machen       without its first 2 characters, the last one replaced by en
    =be            is > be                the lemma itself: form and lemma have no part in common

Each pair of form and lemma has one script: the one that cuts off and adds the fewest characters, of equal ones the
first in the order lower, keep, title, upper. It keeps the longest common part, the first of equal ones. Positions count
in code points, after the change of case, which may change the length.
"""

from __future__ import annotations

import re
import sys
from collections import Counter
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, ClassVar

import numpy as np
import pyarrow as pa

from linnaeus.errors import damaged
from linnaeus.frozen import dataclass
from linnaeus.tasks.tag.encoding import Encoding
from linnaeus.types import Bools, Ints, Longs

if TYPE_CHECKING:
    from linnaeus.data.sentences import Sentences

CASES: dict[str, Callable[[str], str]] = {
    "lower": str.lower,
    "keep": str,
    "title": lambda form: form[:1].upper() + form[1:].lower(),
    "upper": str.upper,
}
"""What is done to the letters of a form, in the order in which scripts prefer them."""

MANY_TOKENS = 10_000
"""In data with more tokens, scripts of a single token are not learned: most correct a typing error."""

_WRITTEN = re.compile(
    r"(?P<case>[a-z]+)"
    r"(?: \^(?P<front>\d{1,9})(?:\+(?P<before>(?:[^\\$]|\\[\\$])+))?)?"
    r"(?: \$(?P<back>\d{1,9})(?:\+(?P<behind>.+))?)?",
    re.DOTALL,
)


@dataclass(frozen=True)
class Edit:
    """Change the case, replace the first `front` characters by `before`, and the last `back` ones by `behind`.

    >>> Edit("lower", back=3, behind="y").apply("Parties")
    'party'
    """

    case: str
    front: int = 0
    before: str = ""
    back: int = 0
    behind: str = ""

    def apply(self, form: str) -> str | None:
        """The lemma; None if nothing of the form would be left."""
        base = CASES[self.case](form)
        if len(base) <= self.front + self.back:
            return None
        return self.before + base[self.front : len(base) - self.back] + self.behind

    def __str__(self) -> str:
        before = self.before.replace("\\", r"\\").replace("$", r"\$")
        return self.case + _end("^", self.front, before) + _end("$", self.back, self.behind)


@dataclass(frozen=True)
class Whole:
    """The lemma itself, whatever the form is.

    >>> Whole("be").apply("is")
    'be'
    """

    lemma: str

    def apply(self, form: str) -> str:
        """The lemma."""
        del form
        return self.lemma

    def __str__(self) -> str:
        return f"={self.lemma}"


Script = Edit | Whole


def _end(sign: str, cut: int, added: str) -> str:
    return f" {sign}{cut}" * bool(cut or added) + f"+{added}" * bool(added)


def script_of(form: str, lemma: str) -> Script:
    """The script that makes the lemma from the form.

    >>> str(script_of("Geese", "goose")), str(script_of("mice", "mouse")), str(script_of("was", "be"))
    ('lower ^3+goo', 'lower $3+ouse', '=be')
    """
    best: Script = Whole(lemma)
    least = sys.maxsize
    for case, changed in CASES.items():
        base = changed(form)
        start, size = _common(base, lemma)
        cost = len(base) + len(lemma) - 2 * size
        if size and cost < least:
            at = lemma.index(base[start : start + size])
            back = len(base) - start - size
            best, least = Edit(case, start, lemma[:at], back, lemma[at + size :]), cost
        if not cost:
            break
    return best


def _common(base: str, lemma: str) -> tuple[int, int]:
    """Where the longest part of both stands in the first, the first of equal ones, and its length."""
    start = size = 0
    for i in range(len(base)):
        while i + size < len(base) and base[i : i + size + 1] in lemma:
            start, size = i, size + 1
    return start, size


@lru_cache(maxsize=1 << 16)
def parse(text: str) -> Script:
    """The script that is written so; what is not written as scripts are is refused.

    >>> parse("lower $3+y")
    Edit(case='lower', front=0, before='', back=3, behind='y')
    """
    if text.startswith("="):
        return Whole(text[1:])
    found = _WRITTEN.fullmatch(text)
    if found is None or found["case"] not in CASES:
        raise damaged(f"{text[:80]!r} is no edit script")
    before = re.sub(r"\\(.)", r"\1", found["before"] or "", flags=re.DOTALL)
    script = Edit(found["case"], int(found["front"] or 0), before, int(found["back"] or 0), found["behind"] or "")
    if str(script) != text:
        raise damaged(f"{text[:80]!r} is no edit script")
    return script


@dataclass(frozen=True)
class Edits(Encoding):
    """The class of a token is the script from the token to its string: to its lemma."""

    entities: ClassVar[bool | None] = False

    def classes(self, sentences: Sentences) -> pa.Array:
        """The script of each token. In large data, one of a single token is replaced by the most frequent script."""
        pairs, number = _pairs(sentences.tokens, sentences.tags)
        scripts = [str(script_of(form, lemma)) for form, lemma in pairs]
        counts = Counter[str]()
        for script, count in zip(scripts, np.bincount(number, minlength=len(pairs)).tolist(), strict=True):
            counts[script] += count
        if len(number) > MANY_TOKENS:
            usual = max(counts, key=lambda script: (counts[script], script))
            scripts = [script if counts[script] > 1 else usual for script in scripts]
        return pa.array(scripts, pa.string()).take(pa.array(number))

    def answers(self, z: Ints, names: Sequence[str], tokens: pa.Array) -> pa.Array:
        """The lemmas; a script that does not fit its token leaves it as it is."""
        pairs, number = _pairs(tokens, pa.array(names, pa.string()).take(pa.array(z)))
        lemmas = [form if (lemma := parse(name).apply(form)) is None else lemma for form, name in pairs]
        return pa.array(lemmas, pa.string()).take(pa.array(number))

    def allowed(self, names: Sequence[str]) -> None:
        """Every script may follow every other."""
        for name in names:
            parse(name)

    def fitting(self, names: Sequence[str], tokens: pa.Array) -> Bools:
        """The scripts that leave something of each token; each script where none does."""
        scripts, order = [parse(name) for name in names], list(CASES)
        edits = [script if isinstance(script, Edit) else None for script in scripts]
        # A whole lemma fits each token, even an empty one: every length is more than -1.
        cuts = np.array([-1 if edit is None else edit.front + edit.back for edit in edits], np.int64)
        cases = np.array([0 if edit is None else order.index(edit.case) for edit in edits], np.int64)
        words = tokens.dictionary_encode()
        sizes = [[len(changed(form)) for changed in CASES.values()] for form in words.dictionary.to_pylist()]
        fits = np.array(sizes, np.int64).reshape(-1, len(order))[:, cases] > cuts
        fits |= ~fits.any(axis=1, keepdims=True)
        return np.asarray(fits[words.indices.to_numpy()], bool)

    def spellings(self, names: Sequence[str]) -> None:
        """None: scripts make lemmas that training never saw."""
        del names


def _pairs(tokens: pa.Array, strings: pa.Array) -> tuple[list[tuple[str, str]], Longs]:
    """The different pairs of a token and a string, and which of them each token has."""
    first, second = tokens.dictionary_encode(), strings.dictionary_encode()
    keys = first.indices.to_numpy().astype(np.int64) * max(len(second.dictionary), 1) + second.indices.to_numpy()
    distinct, number = np.unique(keys, return_inverse=True)
    forms, said = first.dictionary.to_pylist(), second.dictionary.to_pylist()
    pairs = [divmod(key, max(len(said), 1)) for key in distinct.tolist()]
    return [(forms[a], said[b]) for a, b in pairs], number
