"""Whatever bytes a file holds, `check` ends with an answer or a sentence, never with a bug."""

from __future__ import annotations

import contextlib
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from linnaeus.cli.main import main
from linnaeus.data import FORMATS

PIECES = st.sampled_from(
    [b"text,label\n", b'"', b",", b"\n", b"\t", b"\r\n", b'{"text": "a", "label": "b"}\n', b"__label__x ", b"1 1:2\n"]
)
FILES = st.one_of(
    st.binary(max_size=200),
    st.lists(st.one_of(PIECES, st.binary(max_size=6), st.text(max_size=6).map(str.encode)), max_size=40).map(b"".join),
)


@pytest.mark.parametrize("form", sorted(set(FORMATS) - {"folder"}))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=FILES)
def test_any_bytes_end_in_an_answer_or_one_sentence(tmp_path, form, data):
    path = tmp_path / "data"
    path.write_bytes(data)
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = main(["check", str(path), "--format", form, "-q"])
    assert code in (0, 1, 3), err.getvalue()
    assert err.getvalue().count("\n") == (code == 3)
