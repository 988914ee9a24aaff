"""Ctrl-C and SIGTERM: the work ends by an exception, and the process soon after it, whatever it is doing.

Python runs handlers of signals between two instructions of its main thread. Kernels look for signals while they work;
a call into another library (a factorization, a tree) may take long, and so may a thread beside the main one. `end_soon`
does not wait for them.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType

from linnaeus import temporary

GRACE = 0.5
"""Seconds between a signal and the end of the process, if the exception has not ended it by then."""

SENTENCES = {signal.SIGINT: "interrupted", signal.SIGTERM: "terminated"}
"""What is said when a signal ends the work; the exit code is 128 and its number."""


said = threading.Event()
"""Set when the sentence of the end has been printed."""


class Terminated(BaseException):
    """The process was asked to end (SIGTERM)."""


@contextmanager
def raising(came: list[int]) -> Iterator[None]:
    """Let signals raise KeyboardInterrupt or Terminated, and list the signals that came."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def handle(number: int, _frame: FrameType | None) -> None:
        came.append(number)
        raise KeyboardInterrupt if number == signal.SIGINT else Terminated

    # A shell that starts a job in the background makes it deaf to Ctrl-C: that stays so.
    before = {number: signal.getsignal(number) for number in SENTENCES}
    heard = {number: handler for number, handler in before.items() if handler not in (None, signal.SIG_IGN)}
    for number in heard:
        signal.signal(number, handle)
    try:
        yield
    finally:
        for number, handler in heard.items():
            signal.signal(number, handler)


def default() -> None:
    """Let signals end the process without a word: its work is done."""
    for number in SENTENCES:
        if signal.getsignal(number) not in (None, signal.SIG_IGN):
            signal.signal(number, signal.SIG_DFL)


def end_soon() -> None:
    """End this process `GRACE` after a signal, if it has not ended by then: for a process of the command's own."""
    if os.name == "nt":  # wakes sockets only
        return
    reader, writer = os.pipe()
    os.set_blocking(writer, False)
    signal.set_wakeup_fd(writer, warn_on_full_buffer=False)
    with suppress(RuntimeError):  # the system gives no thread
        threading.Thread(target=_wait_and_end, args=(reader,), daemon=True).start()


def _wait_and_end(reader: int) -> None:
    number = 0
    while number not in tuple(SENTENCES):
        number = os.read(reader, 1)[0]
    time.sleep(GRACE)
    temporary.remove_all()
    if not said.is_set():
        with suppress(OSError, ValueError):
            # A bar may have hidden the cursor.
            clear = "\r\x1b[2K\x1b[?25h" if sys.stderr.isatty() else ""
            os.write(2, f"{clear}linnaeus: {SENTENCES[signal.Signals(number)]}\n".encode())
    os._exit(128 + number)
