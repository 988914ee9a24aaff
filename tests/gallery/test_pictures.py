"""Every picture is drawn, says what it shows, and is well-formed; the command writes them."""

import json
import re
import xml.etree.ElementTree as ET
from functools import cache

import pytest
from click.testing import CliRunner

from linnaeus.cli.main import group
from linnaeus.gallery import PICTURES
from linnaeus.render.picture import Bars, Lines, Panel, Picture, Points, Regions, Shades, Tree
from linnaeus.render.svg import svg

SVG = "{http://www.w3.org/2000/svg}"


@cache
def drawn(name):
    """A picture, and its image; each is made once for all tests."""
    picture = PICTURES[name]()
    return picture, svg(picture)


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_well_formed_and_say_what_they_show(name):
    picture, image = drawn(name)
    root = ET.fromstring(image)
    assert root.tag == SVG + "svg"
    assert root.find(SVG + "desc").text == picture.caption
    assert picture.caption.endswith(".")
    assert len(picture.caption) > 40
    words = " ".join(text.text for text in root.iter(SVG + "text"))
    assert picture.title in words
    assert picture.caption in words
    for panel in picture.panels:
        labels = [panel.x, panel.y, *(layer.label for layer in panel.layers)]
        assert all(label in words for label in labels)
        bare = any(isinstance(layer, Shades | Bars | Tree) for layer in panel.layers)
        assert bare or (panel.x and any(labels[2:]))


@pytest.mark.parametrize("name", PICTURES)
def test_rows_of_panels_are_full_and_fit_a_page(name):
    picture, image = drawn(name)
    assert len(picture.panels) % picture.in_row == 0
    width = float(ET.fromstring(image).get("width"))
    assert width <= 860


@pytest.mark.parametrize("name", PICTURES)
def test_no_text_leaves_the_picture_or_covers_another(name):
    """Widths are estimated at seven pixels for a letter, which is about what the browsers' sans-serif fonts need."""
    root = ET.fromstring(drawn(name)[1])
    wide, high = (float(value) for value in root.get("viewBox").split()[2:])
    boxes = [box(text) for text in root.iter(SVG + "text") if "rotate" not in text.get("transform", "")]
    for said, left, right, bottom in boxes:
        assert left >= -1, said
        assert right <= wide + 1, said
        assert 0 < bottom < high, said
    for i, (said, left, right, bottom) in enumerate(boxes):
        for other, start, end, base in boxes[:i]:
            assert abs(bottom - base) > 9 or right <= start or end <= left, (said, other)


def box(text):
    said, x, size = text.text, float(text.get("x")), 8 if text.get("font-size") else 6.2
    left = {"middle": x - size * len(said) / 2, "end": x - size * len(said)}.get(text.get("text-anchor"), x)
    return said, left, left + size * len(said), float(text.get("y"))


def test_ticks_and_titles_of_an_axis_that_panels_share_are_written_once():
    one = Panel([Lines([[(0, 0), (1, 1)]], 1, "a line")], "", (0, 1), (0, 1), "across", "up")
    words = [text.text for text in ET.fromstring(svg(Picture("t", "c", [one, one]))).iter(SVG + "text")]
    assert words.count("up") == 1
    assert words.count("across") == 2
    assert words.count("a line") == 1


def test_a_look_that_means_two_things_has_a_legend_in_each_panel():
    panels = [Panel([Lines([[(0, 0), (1, 1)]], 1, name)]) for name in ("first", "second")]
    words = [text.text for text in ET.fromstring(svg(Picture("t", "c", panels))).iter(SVG + "text")]
    assert {"first", "second"} <= set(words)


def test_shades_of_probability_are_drawn_and_explained():
    regions = Regions([[0, 0, 1, 1]], "probability", [[1.0, 0.0, 0.0, 1.0]])
    root = ET.fromstring(svg(Picture("t", "c", [Panel([regions])])))
    panel = root.find(SVG + "svg")
    opacities = sorted(float(path.get("fill-opacity")) for path in panel.iter(SVG + "path"))
    assert opacities[0] == opacities[1] < opacities[2] == opacities[3]
    assert len(list(root.iter(SVG + "path"))) > 20  # the bar of the legend


def test_bars_begin_at_zero_and_names_stand_on_the_other_side():
    root = ET.fromstring(svg(Picture("t", "c", [Panel([Bars([2.0, -1.0], ["up", "down"])], "", (-2, 2), x="x")])))
    panel = root.find(SVG + "svg")
    first, second = ((float(r.get("x")), float(r.get("width"))) for r in panel.iter(SVG + "rect"))
    zero = first[0]
    assert second[0] + second[1] == pytest.approx(zero, abs=0.2)
    assert first[1] == pytest.approx(2 * second[1], abs=0.2)
    at = {text.text: float(text.get("x")) for text in panel.iter(SVG + "text")}
    assert at["up"] < zero < at["down"]


def test_pictures_load_nothing_and_follow_the_dark():
    image = svg(PICTURES["sigmoid-scaling"]())
    assert "prefers-color-scheme:dark" in image
    assert image.count("http") == 1  # the name of the language
    assert "href" not in image
    assert "url(" not in image


def test_the_same_picture_every_time():
    assert svg(PICTURES["random-forest"]()) == drawn("random-forest")[1]


def test_regions_are_merged_in_rows():
    image = svg(Picture("t", "c", [Panel([Regions([[0, 0, 1], [1, 1, 1]])])]))
    paths = [path.get("d") for path in ET.fromstring(image).iter(SVG + "path")]
    assert [d.count("M") for d in paths] == [1, 2]


def test_cells_that_touch_share_the_numbers_of_their_edges():
    image = svg(Picture("t", "c", [Panel([Regions([[0, 1]] * 7)])]))
    numbers = [re.findall(r"[\d.]+", path.get("d")) for path in ET.fromstring(image).iter(SVG + "path")]
    below, above = ({float(row) for row in numbers[0][at::5]} for at in (1, 3))
    assert len(below & above) == 6  # of seven rows, each edge between two of them


def test_text_cannot_become_markup():
    said = '<script>&"'
    layers = [Points([(0.5, 0.5)], 0, said), Lines([[(0, 0), (1, 1)]], 1, said), Shades([[0.5, -2.0]])]
    root = ET.fromstring(svg(Picture(said, said, [Panel(layers, said, x=said, y=said)])))
    assert not list(root.iter(SVG + "script"))


def test_the_command_writes_files(tmp_path):
    folder = tmp_path / "new" / "pictures"
    done = CliRunner().invoke(group, ["gallery", "-o", str(folder), "--only", "losses", "--json"])
    assert done.exit_code == 0
    said = json.loads(done.stdout)["losses"]
    assert said["title"] == "Losses of the margin"
    assert [path.name for path in folder.iterdir()] == ["losses.svg"]
    assert (folder / "losses.svg").read_text(encoding="utf-8").startswith("<svg")


def test_a_picture_that_is_not_there(tmp_path):
    done = CliRunner().invoke(group, ["gallery", "-o", str(tmp_path), "--only", "mona-lisa"])
    assert done.exit_code != 0
    assert "There is no picture 'mona-lisa'; take one of perceptron" in str(done.exception)


def test_a_folder_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    done = CliRunner().invoke(group, ["gallery", "-o", str(tmp_path / "file" / "sub"), "--only", "losses"])
    assert done.exit_code != 0
    assert "Cannot create the folder" in str(done.exception)


def test_the_site_says_how_large_a_picture_is():
    """Links to a picture then lead there before the pictures above it are loaded."""
    hook = pytest.importorskip("tools.mkdocs_hook", reason="the tests run outside the source tree")
    picture, image = drawn("losses")
    wide, high = ET.fromstring(image).get("viewBox").split()[2:]
    markdown = hook.shown("losses", picture, image)
    assert markdown.startswith(f"## {picture.title} {{#losses}}\n")
    assert f"![{picture.caption}](pictures/losses.svg){{ width={wide} height={high} }}" in markdown


def test_a_link_that_stands_alone_shows_its_picture():
    hook = pytest.importorskip("tools.mkdocs_hook", reason="the tests run outside the source tree")
    made = {"losses": drawn("losses")}
    page = "One.\n\n[Losses](../gallery.md#losses)\n\nSee [losses](../gallery.md#losses).\n"
    found = hook.embedded(page, made)
    assert found.count("](../pictures/losses.svg){ width=") == 1
    assert found.endswith(f" }}](../gallery.md#losses)\n\n{page.rpartition(chr(10) * 2)[2]}")
