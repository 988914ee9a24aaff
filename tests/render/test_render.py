"""Tables, bars and safe text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.render import (
    ASCII,
    UNICODE,
    Page,
    Word,
    bar,
    clean,
    cut,
    glyphs_for,
    histogram,
    indent,
    line,
    pad,
    percent,
    size,
    table,
    title,
    width,
)


@given(st.text(st.characters()))
def test_clean_text_cannot_move_the_cursor_or_turn_the_line(text):
    shown = clean(text)
    assert not any(ord(char) < 32 or 0x7F <= ord(char) < 0xA0 for char in shown)
    assert not set(shown) & set("\u202e\u2066\u200f\u2028\u2029")


@given(st.text(max_size=40), st.integers(3, 20))
def test_cut_text_fits(text, columns):
    assert width(cut(text, columns)) <= max(columns, 0)


def test_padding_counts_columns_not_characters():
    assert pad("中", 4) == "中  "
    assert pad("a", 3, ">") == "  a"
    assert pad("too long", 3) == "too long"


def test_columns_of_a_table_line_up_with_wide_characters():
    lines = table(["", ""], [["中文", "1"], ["ab", "20"]], "<>").plain().splitlines()
    assert lines == ["中文   1", "ab    20"]


@given(st.floats(0, 1), st.integers(1, 40), st.sampled_from([ASCII, UNICODE]))
def test_a_bar_is_as_long_as_its_part(part, columns, glyphs):
    drawn = bar(part, columns, glyphs)
    assert (drawn == "") == (part == 0)
    assert abs(len(drawn) - part * columns) <= 1


def test_a_histogram_leaves_out_empty_bins_at_its_ends_only():
    page = histogram(["0", "1", "2", "3", "4"], [0, 4, 0, 2, 0], 4, ASCII)
    assert page.plain().splitlines() == ["1  4  ####", "2  0", "3  2  ##"]
    assert histogram(["0"], [0], 4, ASCII) == Page()


@pytest.mark.parametrize(
    ("encoding", "signs"), [("utf-8", UNICODE), ("ascii", ASCII), (None, ASCII), ("no such", ASCII)]
)
def test_signs_follow_the_encoding(encoding, signs):
    assert glyphs_for(encoding) is signs


def test_what_is_not_zero_never_looks_like_it():
    assert percent(1e-9) != percent(0)
    assert [size(10**n) for n in (0, 3, 6, 9)] == ["1 B", "1.0 kB", "1.0 MB", "1.0 GB"]


def test_pages_are_put_together_without_trailing_spaces():
    page = title("Head") + indent(Page((line("a", Word(" b ", "good")), line())))
    assert page.plain() == "\nHead\n  a b\n\n"
