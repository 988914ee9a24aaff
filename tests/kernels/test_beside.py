"""Work in a thread of its own, beside other work."""

from __future__ import annotations

import threading

import pytest

from linnaeus.kernels import thread_count, threads
from linnaeus.kernels.threads import Beside


def test_it_is_done_by_another_thread_once():
    done = []
    with threads(2):
        work = Beside(lambda: done.append(threading.get_ident()) or thread_count())
        assert work.begin().begin().result() == work.result() == 2
    assert len(done) == 1
    assert done[0] != threading.get_ident()


@pytest.mark.parametrize("count", [1, 2])
def test_without_a_beginning_it_is_done_when_it_is_asked_for(count):
    done = []
    with threads(count):
        work = Beside(lambda: done.append(threading.get_ident()))
        if count == 1:
            work.begin()
        assert not done
        work.result()
    assert done == [threading.get_ident()]


def test_where_the_system_gives_no_thread(monkeypatch):
    def refuse(_self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refuse)
    with threads(2):
        assert Beside(lambda: 7).begin().result() == 7


@pytest.mark.parametrize("count", [1, 2])
def test_an_error_comes_with_the_result(count):
    def fail():
        raise ValueError("no")

    with threads(count):
        work = Beside(fail).begin()
        for _ in range(2):
            with pytest.raises(ValueError, match="no"):
                work.result()
