"""Every way a command can end, as an exit code and at most one sentence on stderr.

0 success    1 a check failed    2 wrong usage    3 bad data    4 bad model file    5 environment
70 a bug in Linnaeus    130 interrupted    143 terminated
"""

from __future__ import annotations

import errno
import io
import os
import sys
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import TYPE_CHECKING, TextIO

import click

from linnaeus.cli import signals
from linnaeus.cli.options import as_options
from linnaeus.errors import LinnaeusError, MachineError

if TYPE_CHECKING:
    from _typeshed import ReadableBuffer

USAGE, ENVIRONMENT, BUG, INTERRUPTED, TERMINATED = 2, 5, 70, 130, 143

_SHORTAGE = ("MemoryError", "failed to map segment", "annot allocate memory")
"""Texts of import errors that mean too little memory."""


class WholeWrites(io.RawIOBase):
    """A raw stream that writes all it is given: the system may take a part, and Python's text streams do not look."""

    def __init__(self, raw: io.RawIOBase) -> None:
        self._raw = raw

    def writable(self) -> bool:
        """Yes."""
        return True

    def fileno(self) -> int:
        """That of the stream."""
        return self._raw.fileno()

    def isatty(self) -> bool:
        """Whether the stream is a terminal."""
        return self._raw.isatty()

    def write(self, data: ReadableBuffer) -> int:
        """Write every byte, or raise what the system says."""
        left = memoryview(data).cast("B")
        size = len(left)
        while left:
            count = self._raw.write(left)
            if not count:
                raise BlockingIOError(errno.EAGAIN, "the output accepts no more bytes")
            left = left[count:]
        return size


def whole_output() -> None:
    """Let standard output write whole texts where it is not buffered (PYTHONUNBUFFERED, python -u)."""
    raw = getattr(sys.stdout, "buffer", None)
    if isinstance(raw, io.RawIOBase):
        sys.stdout = io.TextIOWrapper(
            WholeWrites(raw),
            encoding=sys.stdout.encoding,
            errors=sys.stdout.errors,
            write_through=True,
        )


def guarded(run: Callable[[], object], debug: bool) -> int:
    """Run a command and return its exit code; nothing is raised, and a traceback is shown only with --debug."""
    came: list[int] = []
    try:
        with signals.raising(came):
            if sys.stdout is None:
                raise MachineError(
                    "standard output is closed, so no result can be written; redirect it to a file or /dev/null."
                )
            code = run()
            flush()
        if came:  # somebody caught the error that a signal had raised
            raise _raised_by(came[0])
        return code if isinstance(code, int) else 0
    except BaseException as error:
        code, sentence = _verdict(_raised_by(came[0]) if came else error)
        if debug and not isinstance(error, click.ClickException | SystemExit):
            traceback.print_exception(error)
        elif code == BUG:
            from linnaeus.cli.crash import save_traceback

            sentence = f"{sentence} {save_traceback(error)}"
        signals.said.set()
        if sentence:
            say(sentence if sentence.startswith("Usage:") else f"linnaeus: {sentence}")
        with suppress(OSError):
            flush()
        return code


def _verdict(error: BaseException) -> tuple[int, str]:
    """The exit code and the sentence for what was raised."""
    if isinstance(error, LinnaeusError):
        return error.exit_code, f"error: {_safe(as_options(str(error)))}"
    if isinstance(error, click.ClickException):
        return _usage(error)
    if isinstance(error, click.Abort | KeyboardInterrupt):
        return INTERRUPTED, "interrupted"
    if isinstance(error, signals.Terminated):
        return TERMINATED, "terminated"
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else 0, ""
    if isinstance(error, BrokenPipeError):
        return 0, ""
    if isinstance(error, MemoryError) or _is_shortage(error):
        return ENVIRONMENT, "error: there is not enough memory; use less data at a time."
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename else ""
        return ENVIRONMENT, f"error: {_safe(f'system error: {error.strerror or error}{where}.')}"
    return BUG, f"error: a bug in Linnaeus ({type(error).__name__}); please report it."


def _raised_by(number: int) -> BaseException:
    return signals.Terminated() if number + 128 == TERMINATED else KeyboardInterrupt()


def _is_shortage(error: BaseException | None) -> bool:
    """Whether an import failed because memory was short, though other errors may hide it."""
    if not isinstance(error, ImportError):
        return False
    while error is not None:
        if any(sign in repr(error) for sign in _SHORTAGE):
            return True
        error = error.__cause__ or error.__context__
    return False


def _safe(sentence: str) -> str:
    """A message whose quoted names cannot send control characters to the terminal."""
    from linnaeus.render import clean

    return clean(sentence)


def _usage(error: click.ClickException) -> tuple[int, str]:
    if isinstance(error, click.exceptions.NoArgsIsHelpError):
        return USAGE, error.format_message()
    context = error.ctx if isinstance(error, click.UsageError) else None
    hint = f" Try '{context.command_path} --help'." if context else ""
    message = _no_option(error) if isinstance(error, click.NoSuchOption) else error.format_message()
    return USAGE, f"error: {message}{'' if message.endswith(('.', '?')) else '.'}{hint}"


def _no_option(error: click.NoSuchOption) -> str:
    from linnaeus.errors import nearest

    params = error.ctx.command.params if error.ctx else []
    near = nearest(error.option_name, (name for param in params for name in param.opts if name.startswith("-")))
    return f"There is no option {error.option_name!r}" + ("." if near is None else f"; did you mean {near!r}?")


def say(message: str) -> None:
    """Print a message to stderr; a terminal gets it broken between words, files and pipes in one line."""
    if sys.stderr is not None and sys.stderr.isatty() and not message.startswith("Usage:"):
        with suppress(ImportError, MemoryError):
            message = _folded(message)
    with suppress(OSError, ValueError):
        click.echo(message, err=True)


def _folded(message: str) -> str:
    from linnaeus.cli.screen import width_of
    from linnaeus.render.layout import fold
    from linnaeus.render.page import Word

    columns = width_of(sys.stderr, os.environ) or 80
    return "\n  ".join("".join(word.text for word in words) for words in fold((Word(message),), columns - 2))


def flush() -> None:
    """Flush the output; a closed pipe is not an error."""
    for stream in (sys.stdout, sys.stderr):
        try:
            if stream is not None:
                stream.flush()
        except (BrokenPipeError, ValueError):
            silence(stream)
        except OSError:
            # A full disk behind stdout: the code below says so, and the interpreter must not say it again.
            silence(stream)
            raise


def silence(stream: TextIO) -> None:
    """Let a stream that nobody reads end in nothing, so that the interpreter does not complain at its end."""
    with suppress(OSError, ValueError, AttributeError):
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, stream.fileno())
        os.close(null)
