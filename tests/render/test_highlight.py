"""Highlighted text: lines that fit, marks where there is no color, HTML that is only text."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from linnaeus.render import COLORED, PLAIN, Tint, highlight, highlight_html, html_text, width
from linnaeus.render.highlighting import STYLES, style_of

tints = st.lists(st.builds(Tint, st.text(max_size=12), st.floats(-1, 1)), max_size=8)


@given(tints, st.integers(40, 80))
def test_lines_fit(pieces, columns):
    for words in highlight(pieces, COLORED).lines(columns):
        assert sum(width(word.text) for word in words) <= columns


def test_words_are_not_torn_from_their_commas():
    page = highlight([Tint("aaa bbb"), Tint(",", 1.0), Tint(" ccc")], COLORED)
    assert page.plain(7) == "aaa\nbbb,\nccc\n"


def test_marks_tell_what_colors_would():
    page = highlight(
        [Tint("a", 1.0), Tint(" "), Tint("b", 0.1), Tint(" "), Tint("c", -0.1), Tint(" "), Tint("d", -1.0)], PLAIN
    )
    assert page.plain() == "[++a] [+b] [-c] [--d]\n"


def test_a_text_longer_than_a_line_is_broken_between_pieces():
    page = highlight([Tint("天", 0.5)] * 30, COLORED)
    assert [sum(width(word.text) for word in words) for words in page.lines(20)] == [20, 20, 20]


def test_nothing_is_a_page_without_lines():
    assert highlight([], PLAIN).lines() == []
    assert highlight([Tint("  \n")], PLAIN).plain().strip() == ""


def test_every_strength_has_a_style_with_marks():
    assert {style_of(s / 100) for s in range(-100, 101)} == {"", *STYLES}
    assert set(PLAIN.before) == set(COLORED.before) == set(STYLES)


def test_html_is_escaped():
    html = highlight_html([Tint("<b>&\"'", 0.7, '"><i>'), Tint("plain")])
    assert "<b>" not in html
    assert "<i>" not in html
    assert html.endswith("plain</div>")
    assert html_text("\x00\u202e<") == "\\x00\\u202e&lt;"
