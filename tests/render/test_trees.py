"""Dependency trees as SVG and as text: well-formed, escaped, every arc drawn, no label on another."""

import re
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from linnaeus.errors import UsageError
from linnaeus.outputs import ProjectiveTree, SpanningTree
from linnaeus.render import tree_svg, tree_text

SVG = "{http://www.w3.org/2000/svg}"
RELATIONS = ("nsubj", "obj", "det", "obl:tmod", "acl:relcl", "punct")


def drawn(n, space, seed=0):
    """Words, heads and relations of a random tree."""
    rng = np.random.default_rng(seed)
    far = np.abs(np.arange(n)[:, None] - np.arange(-1, n))
    heads = space.decode((rng.normal(size=(n, n + 1)) - 0.2 * far).reshape(-1, 1)).tolist()
    return ["w" * int(rng.integers(1, 11)) for _ in range(n)], heads, [RELATIONS[i] for i in rng.integers(0, 6, n)]


def labels(root):
    """x, y and half width of each label of an arc."""
    found = [text for text in root.iter(SVG + "text") if text.get("font-size") == "10"]
    return [(float(text.get("x")), float(text.get("y")), 2.7 * len(text.text)) for text in found]


@pytest.mark.parametrize("space", [ProjectiveTree(), SpanningTree()])
@pytest.mark.parametrize("n", [1, 2, 3, 7, 20, 40])
def test_every_word_and_arc_is_drawn_and_nothing_covers_another(n, space):
    tokens, heads, relations = drawn(n, space, n)
    root = ET.fromstring(tree_svg(tokens, heads, relations))
    words = [text for text in root.iter(SVG + "text") if text.get("font-size") is None]
    assert [text.text for text in words] == tokens
    assert len(list(root.iter(SVG + "path"))) == 2 * n  # lines and arrows
    ends = [float(text.get("x")) for text in words]
    for (left, a), (right, b) in pairwise(zip(ends, tokens, strict=True)):
        assert right - left > 3.2 * (len(a) + len(b))
    wide, high = (float(value) for value in root.get("viewBox").split()[2:])
    places = labels(root)
    assert len(places) == n
    for i, (x, y, half) in enumerate(places):
        assert half <= x <= wide - half
        assert 8 < y < high
        assert all(abs(y - v) > 9 or abs(x - u) >= half + other for u, v, other in places[:i])


def test_arcs_end_at_their_words():
    root = ET.fromstring(tree_svg(["Dogs", "bark", "loudly"], [2, 0, 2]))
    centers = [float(text.get("x")) for text in root.iter(SVG + "text") if text.get("font-size") is None]
    arrows = [path.get("d") for path in root.iter(SVG + "path") if path.get("fill") != "none"]
    for center, d in zip(centers, arrows, strict=True):
        assert float(re.match(r"M(\S+)", d)[1]) == pytest.approx(center, abs=8)
    lines = [path.get("d") for path in root.iter(SVG + "path") if path.get("fill") == "none"]
    starts = [float(re.match(r"M(\S+)", d)[1]) for d in lines]
    assert starts[0] < centers[1] < starts[2]
    assert [text.text for text in root.iter(SVG + "text") if text.get("font-size") == "10"] == ["root"]


def test_marked_arcs_differ_in_color_and_width():
    root = ET.fromstring(tree_svg(["a", "b"], [2, 0], marked=[0]))
    first, second = (path for path in root.iter(SVG + "path") if path.get("fill") == "none")
    assert first.get("stroke") != second.get("stroke") == "currentColor"
    assert float(first.get("stroke-width")) > float(second.get("stroke-width"))


def test_the_image_follows_the_dark_and_says_what_it_shows():
    image = tree_svg(["Dogs", "bark"], [2, 0], ["nsubj", "root"], title="A <tree>")
    root = ET.fromstring(image)
    assert root.find(SVG + "title").text == "A <tree>"
    assert root.find(SVG + "desc").text == tree_text(["Dogs", "bark"], [2, 0], ["nsubj", "root"])
    assert "prefers-color-scheme:dark" in image
    assert image.count("http") == 1
    assert "Dogs bark" in ET.fromstring(tree_svg(["Dogs", "bark"], [2, 0])).find(SVG + "title").text


@given(st.lists(st.text(st.characters(), max_size=8), min_size=1, max_size=6), st.text(max_size=5))
def test_any_text_is_escaped(tokens, relation):
    heads = [0, *range(1, len(tokens))]
    root = ET.fromstring(tree_svg(tokens, heads, [relation] * len(tokens)))
    assert {child.tag for child in root} <= {SVG + name for name in ("style", "title", "desc", "path", "text", "rect")}
    assert len(tree_text(tokens, heads).splitlines()) >= 1


def test_text_has_a_line_for_each_token_and_columns_of_one_width():
    said = tree_text(["中文", "is", "good"], [3, 3, 0], ["nsubj", "cop", "root"]).splitlines()
    assert said == ["1  中文  nsubj  3 good", "2  is    cop    3 good", "3  good  root   0"]
    assert tree_text(["is", "good"], [2, 0]).splitlines() == ["1  is    2 good", "2  good  0"]
    assert tree_text([], []) == ""
    assert ET.fromstring(tree_svg([], [])).tag == SVG + "svg"


def test_heads_that_are_no_tokens_are_refused():
    for heads in ([0], [0, 3], [0, -1], [0, 2]):
        with pytest.raises(UsageError, match=r"one head|another token"):
            tree_svg(["a", "b"], heads)
    with pytest.raises(UsageError, match="one relation"):
        tree_text(["a", "b"], [0, 1], ["x"])
