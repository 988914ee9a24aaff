"""Explanations on a screen, as HTML and as JSON: safe, complete, the same numbers."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from tests.explain.models import random_model
from tests.explain.test_places import texts

from linnaeus.explain import explain, explanation_page
from linnaeus.features import Chars, Hashed, Shape, Words
from linnaeus.render import ASCII, COLORED, PLAIN, UNICODE

HOSTILE = '<script>alert("x")</script> & \x1b[31mred\x07 \u202etfel\u2066 \x00 \r\n\t end'
FITTED = (Words(ngrams=(1, 2), terms=Hashed(6)) | Chars(2, 3, terms=Hashed(8)) | Shape()).fit([])


class Reader(HTMLParser):
    """What a browser would see: open tags, text of the first block, titles."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: set[str] = set()
        self.shown = ""
        self.titles: list[str] = []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.open.append(tag)
        self.titles += [value for name, value in attrs if name == "title"]
        assert not any(name.startswith("on") or name in ("src", "href") for name, _ in attrs)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[:2] == ["div", "div"]:
            self.shown += data


def read(html: str) -> Reader:
    reader = Reader()
    reader.feed(html)
    reader.close()
    assert reader.open == []
    return reader


def test_html_holds_no_live_text_of_users():
    why = explain(HOSTILE, random_model(FITTED))
    reader = read(why.to_html())
    assert reader.tags <= {
        "div",
        "p",
        "span",
        "strong",
        "bdi",
        "table",
        "caption",
        "tbody",
        "tr",
        "th",
        "td",
        "ul",
        "li",
        "details",
        "summary",
        "small",
    }
    assert "<script" not in why.to_html()
    assert not re.search("[\x00-\x08\x0b-\x1f\u202a-\u202e\u2066-\u2069]", why.to_html())
    assert why._repr_html_() == why.to_html()


@given(texts)
def test_html_shows_the_whole_text(text):
    why = explain(text, random_model(FITTED), search=None)
    reader = read(why.to_html())
    visible = text.replace("\r\n", "\n").replace("\r", "\n")
    if "\\" not in reader.shown:
        assert reader.shown == visible


def test_every_tinted_piece_says_its_number():
    html = explain("good film, bad film", random_model(FITTED)).to_html()
    tinted = re.findall(r"<span style=[^>]*>", html.split("</div>")[0])
    assert tinted
    assert all(re.search(r'title="[+-][0-9.]+ [abc]"', tag) for tag in tinted)


@pytest.mark.parametrize("marks", [PLAIN, COLORED])
@pytest.mark.parametrize("glyphs", [ASCII, UNICODE])
def test_the_page_is_safe_for_a_terminal(marks, glyphs):
    why = explain(HOSTILE, random_model(FITTED), ["a", "b", "c"])
    page = explanation_page(why, glyphs, marks).plain()
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert page.isascii() or glyphs is UNICODE
    assert ("[+" in page or "[-" in page) == (marks is PLAIN)


def test_json_has_offsets_and_the_same_sums():
    text = "👩‍👩‍👧 good Straße, not good"
    why = explain(text, random_model(FITTED))
    told = json.loads(json.dumps(why.to_json(), allow_nan=False))
    assert told["schema"] == "linnaeus.explanation/1"
    assert "".join(piece["text"] for piece in told["segments"]) == text
    for entry in told["classes"]:
        name = entry["name"]
        rest = entry["bias"] + entry["unplaced"]
        assert rest + sum(s["contributions"][name] for s in told["segments"]) == pytest.approx(entry["score"])
        sums = entry["bias"] + sum(f["contributions"][name] for f in told["features"])
        assert sums == pytest.approx(entry["score"])
    for feature in told["features"]:
        if feature["places"]:
            assert sum(place["share"] for place in feature["places"]) == pytest.approx(1)
    flip = told["flip"]
    assert all(text[word["start"] : word["end"]] == word["text"] for word in flip["words"])
    assert len(why.to_json(3)["features"]) == 3


def test_an_explanation_is_short_where_it_is_echoed():
    why = explain("good", random_model(FITTED))
    assert repr(why).startswith(f"<Explanation of {why.predicted[0]} (score ")


def test_colors_reach_the_screen():
    from io import StringIO

    from linnaeus.cli.screen import COLORS, Screen
    from linnaeus.render.page import STYLES

    assert set(STYLES) == set(COLORS)
    stream = StringIO()
    why = explain("good film, bad film", random_model(FITTED))
    Screen(stream, True, UNICODE).show(explanation_page(why, UNICODE, COLORED))
    assert "\x1b[" in stream.getvalue()
