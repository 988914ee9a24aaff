"""The errors of Linnaeus, by who can fix them; each has an exit code for the command line.

Messages say what is wrong, where, and what to do, in one sentence.

>>> issubclass(DataError, ValueError), DataError.exit_code
(True, 3)
"""

import math
import os
from collections.abc import Iterable
from numbers import Integral, Real
from typing import cast

__all__ = [
    "DataError",
    "InputTypeError",
    "LinnaeusError",
    "LinnaeusWarning",
    "MachineError",
    "MissingFunctionError",
    "ModelFileError",
    "UsageError",
]


class LinnaeusError(Exception):
    """The base class of all errors that Linnaeus raises on purpose.

    >>> issubclass(UsageError, LinnaeusError), LinnaeusError.exit_code
    (True, 70)
    """

    exit_code = 70


class UsageError(LinnaeusError, ValueError):
    """Wrong use: an unknown option, a value out of range, or parts that do not fit together.

    >>> from linnaeus.recipes.cookbook import recipe
    >>> try:
    ...     recipe("nope")
    ... except UsageError as error:
    ...     print(error.exit_code)
    2
    """

    exit_code = 2


class MissingFunctionError(UsageError):
    """A model whose features call a function of yours, which a file never holds: pass it in when you load the model.

    >>> raise MissingFunctionError("loud")
    Traceback (most recent call last):
    linnaeus.errors.MissingFunctionError: The model needs the function 'loud'; pass it in: functions={'loud': fn}.
    """

    def __init__(self, name: str) -> None:
        super().__init__(f"The model needs the function {name!r}; pass it in: functions={{{name!r}: fn}}.")


class InputTypeError(LinnaeusError, TypeError):
    """An argument of the wrong type, such as one string instead of a list of strings.

    >>> from linnaeus import TextClassifier
    >>> try:
    ...     TextClassifier().fit("one text", ["yes"])
    ... except InputTypeError as error:
    ...     print(isinstance(error, TypeError))
    True
    """

    exit_code = 2


class DataError(LinnaeusError, ValueError):
    """Data that cannot be read or used: the message names the file and the row.

    >>> import linnaeus
    >>> try:
    ...     linnaeus.read([("good", "yes"), ("bad", None)]).batch()
    ... except DataError as error:
    ...     print(error.exit_code)
    3
    """

    exit_code = 3


class ModelFileError(LinnaeusError, ValueError):
    """A model file that is damaged, not written by Linnaeus, or from a newer version.

    >>> import linnaeus
    >>> from pathlib import Path
    >>> _ = Path("text.lin").write_text("not a model")
    >>> try:
    ...     linnaeus.load("text.lin")
    ... except ModelFileError as error:
    ...     print(error.exit_code)
    4
    """

    exit_code = 4


class MachineError(LinnaeusError, OSError):
    """A problem of the environment: no space on disk, no permission, a missing optional package.

    >>> MachineError.exit_code
    5
    """

    exit_code = 5


class LinnaeusWarning(UserWarning):
    """The base class of all warnings; each is about something that the user can change.

    >>> issubclass(LinnaeusWarning, UserWarning)
    True
    """


MOST_SAID = 240
"""The maximum length of the reason in a message about a file."""


def damaged(what: str) -> ModelFileError:
    """The error for a model file whose parts do not fit together.

    >>> str(damaged("it has no columns"))
    'The model is damaged: it has no columns; restore it from a copy, or train it again.'
    """
    return ModelFileError(f"The model is damaged: {_short(what)}; restore it from a copy, or train it again.")


def damaged_or_newer(what: str) -> ModelFileError:
    """The error for a model file with unknown content, which a newer version may have written."""
    return ModelFileError(
        f"The model is damaged or from a newer version: {_short(what)}; restore it from a copy, or upgrade Linnaeus."
    )


def _short(what: str) -> str:
    """The reason in a message about a file, on one line and of limited length."""
    said = " ".join(what.split())
    return said if len(said) <= MOST_SAID else f"{said[:MOST_SAID]}..."


_KINDS: dict[type, tuple[type | tuple[type, ...], str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    str: (str, "a string"),
    os.PathLike: ((str, os.PathLike), "the name of a file"),
}


def expect(name: str, value: object, kind: type, least: float | None = None, most: float = math.inf) -> None:
    """Refuse an argument that is not of this type: int, float (whole numbers too), str, os.PathLike (strings too).

    True does not count as a number. If `least` is given, a number below it or above `most` is refused, too.

    >>> expect("k", 3, int)
    >>> expect("k", 3, int, 1, 2)
    Traceback (most recent call last):
    linnaeus.errors.UsageError: k must be between 1 and 2, not 3.
    >>> expect("k", "3", int)
    Traceback (most recent call last):
    linnaeus.errors.InputTypeError: k takes a whole number, not '3'.
    """
    accepted, words = _KINDS[kind]
    if isinstance(value, bool) or not isinstance(value, accepted):
        raise InputTypeError(f"{name} takes {words}, not {value!r}.")
    if least is not None and not least <= cast("float", value) <= most:
        range_ = f"at least {least}" if most == math.inf else f"between {least} and {most:,}"
        raise UsageError(f"{name} must be {range_}, not {value}.")


def expect_within(name: str, value: object, kind: type, interval: str) -> None:
    """Refuse a number outside an interval, which is written as in mathematics: "(0, 1]" is above 0 and at most 1.

    >>> expect_within("share", 0.0, float, "(0, 1]")
    Traceback (most recent call last):
    linnaeus.errors.UsageError: share must be above 0 and at most 1, not 0.0.
    >>> expect_within("rate", float("nan"), float, "(0, inf)")
    Traceback (most recent call last):
    linnaeus.errors.UsageError: rate must be above 0 and finite, not nan.
    """
    expect(name, value, kind)
    number, (low, high) = cast("float", value), interval[1:-1].split(", ")
    from_low, to_high = interval[0] == "[", interval[-1] == "]"
    above = number >= float(low) if from_low else number > float(low)
    below = number <= float(high) if to_high else number < float(high)
    if not (above and below):
        last = "finite" if high == "inf" else f"at most {high}" if to_high else f"below {high}"
        raise UsageError(f"{name} must be {'at least' if from_low else 'above'} {low} and {last}, not {value!r}.")


def is_unicode(text: str) -> bool:
    r"""Whether a string is valid Unicode text: without half a surrogate pair.

    >>> is_unicode("caf\u00e9"), is_unicode("\ud800")
    (True, False)
    """
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def label_fault(label: str) -> str | None:
    r"""Why a string cannot be a label: NumPy drops NULs at the end of strings, and half a surrogate pair is not text.

    >>> label_fault("a\0"), label_fault("a\ud800"), label_fault("a")
    ('a NUL character', 'half a surrogate pair', None)
    """
    if "\0" in label:
        return "a NUL character"
    return None if is_unicode(label) else "half a surrogate pair"


SHOWN_NAMES = 40
"""The maximum number of names that a message lists."""


def nearest(name: object, known: Iterable[object]) -> str | None:
    """The known name that is most similar to this one; None if none is similar.

    >>> nearest("Macro F1", ["accuracy", "macro-f1"]), nearest("x", ["accuracy"])
    ('macro-f1', None)
    """
    from difflib import get_close_matches

    plain = {_plain(str(there)): str(there) for there in reversed(list(known))}
    near = get_close_matches(_plain(str(name)), plain, 1)
    return plain[near[0]] if near else None


def did_you_mean(name: object, known: Iterable[object], other: str = "") -> str:
    """The end of a message about an unknown name: the nearest known name, or all known names.

    `other` is a further alternative, such as an object or a file.

    >>> did_you_mean("regulariser", ["loss", "regularizer"])
    "did you mean 'regularizer'?"
    >>> did_you_mean("x", ["svm", "fast"], "a TOML file")
    'take one of svm, fast, or a TOML file.'
    """
    names = list(map(str, known))
    near = nearest(name, names)
    if near is not None:
        return f"did you mean {near!r}?"
    if not names:
        return "there are none."
    more = f" and {len(names) - SHOWN_NAMES:,} more" if len(names) > SHOWN_NAMES else ""
    return f"take one of {', '.join(names[:SHOWN_NAMES])}{more}{f', or {other}' if other else ''}."


def _plain(name: str) -> str:
    """The name in lower case, without separators between words."""
    return "".join(sign for sign in name.casefold() if sign not in " -_.")


def said(error: object) -> str:
    r"""The message of another library's error on one line; messages of Arrow have several lines.

    >>> said(ValueError("no page header\n at byte 4"))
    'no page header at byte 4'
    """
    return " ".join(str(error).split())
