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
from typing import TYPE_CHECKING

import numpy as np

from linnaeus.errors import UsageError

if TYPE_CHECKING:
    from linnaeus.types import Ints

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


def codes(forms: list[str]) -> Ints:
    """Forms (q, 3) for the kernels."""
    return np.array([parse(form) for form in forms], np.int32).reshape(-1, 3)
