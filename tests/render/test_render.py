"""Tables, bars and safe text."""

from __future__ import annotations

import shlex

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
    command,
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


cells = st.text(st.characters(categories=["L", "N", "P"]) | st.just(" "), max_size=60).map(clean)


@given(st.lists(st.tuples(cells, cells, cells, cells), min_size=1, max_size=5), st.integers(20, 120))
def test_no_table_is_wider_than_the_screen_and_nothing_is_lost(rows, columns):
    page = indent(table(["name", "one", "two", ""], rows, "<<<>"))
    shown = page.plain(columns)
    assert all(width(text) <= columns for text in shown.splitlines())
    assert set("".join(map("".join, rows))) <= set(shown) | {" "}


@given(st.lists(cells, min_size=1), st.integers(20, 120))
def test_lines_are_broken_between_words_where_they_can_be(words, columns):
    text = " ".join(" ".join(words).split())
    broken = Page((line("  ", text),)).plain(columns).splitlines()
    assert all(width(part) <= columns for part in broken)
    assert "".join(broken).replace(" ", "") == text.replace(" ", "")
    if all(width(word) <= columns - 4 for word in text.split()):
        assert " ".join(" ".join(broken).split()) == text


def test_columns_without_room_follow_below_with_the_first_one_again():
    page = table(["", "precision", "recall", "F1"], [["spam", "0.9", "0.8", "0.85"]], "<>>>")
    assert page.plain(20).splitlines() == [
        "      precision",
        "spam        0.9",
        "",
        "      recall    F1",
        "spam     0.8  0.85",
    ]


def test_bars_become_shorter_and_keep_their_shares():
    page = table(["", ""], [["a long name of a label", Word("#" * 24)], ["b", Word("#" * 12)], ["c", ""]], "<=")
    assert [text.count("#") for text in page.plain(40).splitlines()] == [16, 8, 0]


def test_a_command_that_is_broken_can_still_be_pasted():
    page = indent(Page((command("linnaeus explain folder/model.lin 'a text of yours' --features 20"),)))
    broken = page.plain(30)
    assert all(len(text) <= 30 for text in broken.splitlines())
    assert shlex.split(broken.replace("\\\n", "")) == shlex.split(page.plain())


def test_columns_without_a_name_stay_beside_the_one_they_belong_to():
    """A mark below the others, alone in a table of its own, would say nothing."""
    head = ["", "rows", "", "accuracy", "", "macro_f1", ""]
    rows = [["north", "20", "few", "0.9000", "", "0.8000", "worse"], ["south", "90", "", "0.9500", "", "0.9500", ""]]
    page = table(head, rows, "<><><><")
    for columns in range(24, 60):
        for text in page.plain(columns).splitlines():
            assert ("few" in text) <= ("20" in text)
            assert ("worse" in text) <= ("0.8000" in text)
