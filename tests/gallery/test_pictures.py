"""Every picture is drawn, says what it shows, and is well-formed; the command writes them."""

import json
import xml.etree.ElementTree as ET

import pytest
from click.testing import CliRunner

from linnaeus.cli.main import group
from linnaeus.gallery import PICTURES
from linnaeus.render.picture import Lines, Panel, Picture, Points, Regions, Shades
from linnaeus.render.svg import svg

SVG = "{http://www.w3.org/2000/svg}"


@pytest.mark.parametrize("name", PICTURES)
def test_pictures_are_well_formed_and_say_what_they_show(name):
    picture = PICTURES[name]()
    root = ET.fromstring(svg(picture))
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
        assert name == "digit-templates" or (panel.x and panel.y and any(labels[2:]))


def test_pictures_load_nothing_and_follow_the_dark():
    image = svg(PICTURES["sigmoid-scaling"]())
    assert "prefers-color-scheme:dark" in image
    assert image.count("http") == 1  # the name of the language
    assert "href" not in image
    assert "url(" not in image


def test_the_same_picture_every_time():
    assert svg(PICTURES["random-forest"]()) == svg(PICTURES["random-forest"]())


def test_regions_are_merged_in_rows():
    image = svg(Picture("t", "c", [Panel([Regions([[0, 0, 1], [1, 1, 1]])])], side=300))
    paths = [path.get("d") for path in ET.fromstring(image).iter(SVG + "path")]
    assert [d.count("M") for d in paths] == [1, 2]
    assert "h200.00" in paths[0]
    assert "h300.00" in paths[1]


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
    assert "Cannot make the folder" in str(done.exception)
