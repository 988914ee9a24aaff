"""What the documentation names exists, and what exists is documented: verbs, options, recipes, changes, exit codes."""

import itertools
import re
import shlex

import click
import pytest
from tests.documented import FENCE, ROOT, SPAN, page_commands, page_options

from linnaeus import errors
from linnaeus.cli import ALIASES, VERBS
from linnaeus.cli.guard import BUG, ENVIRONMENT, INTERRUPTED, TERMINATED, USAGE
from linnaeus.cli.main import group
from linnaeus.cli.train import _assignment
from linnaeus.errors import LinnaeusError
from linnaeus.gallery import PICTURES
from linnaeus.gallery.boundaries import Scene
from linnaeus.recipes.cookbook import RECIPES

PAGES = sorted([*ROOT.glob("docs/**/*.md"), ROOT / "README.md", ROOT / "CHANGELOG.md"])
OF_OTHERS = ROOT / "docs" / "migrating.md"  # names options of other programs too
NAMED = re.compile(r"""(?:TextClassifier|TextRegressor|\brecipe)\((?:recipe=)?["']([^"']+)["']""")

page = pytest.mark.parametrize("path", PAGES, ids=[str(p.relative_to(ROOT)) for p in PAGES])


def options(verb):
    """The options of a verb by every name they have; those that are hidden do not count."""
    command = group.get_command(click.Context(group), verb)
    inner = command.commands.values() if isinstance(command, click.Group) else ()
    given = [param for one in (command, *inner) for param in one.params]
    found = [param for param in given if isinstance(param, click.Option) and not param.hidden]
    return {name for param in found for name in param.opts} | {"-h", "--help"}


def commands(lines):
    """Every call of `linnaeus` in these lines, as words after its name."""
    for line in lines:
        words = shlex.split(line, comments=True)
        if "linnaeus" in words:
            after = words[words.index("linnaeus") + 1 :]
            yield list(itertools.takewhile(lambda word: word not in ("|", ">", "2>&1"), after))


def spans(path):
    return SPAN.findall(FENCE.sub("", path.read_text(encoding="utf-8")))


def section(text, heading):
    """The part of a page under a heading of the second level."""
    found = re.search(rf"^## {re.escape(heading)}$(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL)
    assert found, f"no section {heading!r}"
    return found[1]


@page
def test_verbs_and_options_of_commands_exist(path):
    for words in commands(page_commands(path.read_text(encoding="utf-8"))):
        verb = next((word for word in words if not word.startswith("-")), None)
        if verb is None or verb == "COMMAND":
            known = {"-h", "--help", "-V", "--version", "--debug"}
        else:
            assert verb in {**VERBS, **ALIASES}, f"{path.name}: there is no verb {verb!r}"
            known = options(verb)
        given = {word.partition("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)}
        assert given <= known, f"{path.name}: linnaeus {' '.join(words)}"


@page
def test_options_in_the_prose_exist(path):
    if path == OF_OTHERS:
        return
    known = {name for verb in VERBS for name in options(verb)} | {"-V", "--version"}
    named = {span.split()[0].partition("=")[0] for span in spans(path) if re.match(r"--[a-z]|-[a-z]$", span)}
    assert named <= known


@page
def test_recipes_that_are_named_exist(path):
    text = path.read_text(encoding="utf-8")
    named = {*NAMED.findall(text), *re.findall(r"--recipe ([a-z-]+)(?![\w.-])", text)}
    assert named <= {*RECIPES, "nope"}


@page
def test_changes_that_are_named_are_taken(path):
    text = path.read_text(encoding="utf-8")
    for words in commands([*page_commands(text), *page_options(text)]):
        changes = [after for word, after in itertools.pairwise(words) if word == "--set"]
        _check_changes(path, [change for change in changes if change != "PATH=VALUE"])


def _check_changes(path, changes):
    for change in changes:
        name, value = _assignment(change)
        if value in ("...", "VALUE") or name == "los":
            continue
        assert any(_takes(recipe.make(), name, value) for recipe in RECIPES.values()), f"{path.name}: --set {change}"


def _takes(recipe, name, value):
    try:
        recipe.changed({name: value})
    except LinnaeusError:
        return False
    return True


def test_every_verb_and_option_is_on_the_page_of_the_command_line():
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    shared = set(re.findall(r"`(--?[a-z-]+)[^`]*`", section(text, "Options of all commands")))
    for verb in VERBS:
        own = set(re.findall(r"`(--?[a-z-]+)[^`]*`", section(text, verb)))
        assert options(verb) <= own | shared, verb
        assert f"`{verb}`" in text
    assert all(f"`{alias}`" in text for alias in ALIASES)


def test_every_exit_code_is_on_the_page_of_the_command_line():
    text = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    codes = {int(code) for row in re.findall(r"^\| ([\d, ]+) \|", text, re.MULTILINE) for code in row.split(", ")}
    raised = {kind.exit_code for kind in vars(errors).values() if isinstance(kind, type) and hasattr(kind, "exit_code")}
    assert codes == {0, 1, USAGE, ENVIRONMENT, BUG, INTERRUPTED, TERMINATED} | raised


def test_every_recipe_has_a_section():
    text = (ROOT / "docs" / "recipes.md").read_text(encoding="utf-8")
    for name in RECIPES:
        assert f"[`{name}`](#{name})" in text
        assert section(text, name).strip()
    assert set(re.findall(r"^\| \[`([\w-]+)`\]\(#", text, re.MULTILINE)) == set(RECIPES)


def test_links_to_the_reference_lead_to_public_names():
    """`[...][linnaeus.losses.Hinge]`: the site turns these into links to the API reference."""
    reference = pytest.importorskip("tools.reference", reason="the tests run outside the source tree")
    public = {f"{room}.{name}" for room, names in reference.public_names().items() for name in names}
    linked = {
        name for path in PAGES for name in re.findall(r"\]\[(linnaeus[\w.]*)\]", path.read_text(encoding="utf-8"))
    }
    assert linked
    assert linked <= public


def test_links_to_pictures_lead_to_pictures():
    """Their headings are written when the site is built; every picture is linked from recipes or concepts."""
    picture = re.compile(r"\]\((?:\.\./)?gallery\.md#([^)]+)\)")
    linked = {path.name: set(picture.findall(path.read_text(encoding="utf-8"))) for path in PAGES}
    assert set().union(*linked.values()) <= set(PICTURES)
    scenes = {name for name, drawn in PICTURES.items() if isinstance(drawn, Scene)} - {"truth-tables"}
    assert linked["recipes.md"] >= scenes
    assert linked["recipes.md"] | linked["concepts.md"] == set(PICTURES)


def test_every_page_is_linked_from_the_first_page_or_the_index_of_its_folder():
    first, readme = (path.read_text(encoding="utf-8") for path in (ROOT / "docs" / "index.md", ROOT / "README.md"))
    for path in ROOT.glob("docs/**/*.md"):
        link = path.relative_to(ROOT / "docs").as_posix()
        index = path.with_name("index.md")
        listed = index.read_text(encoding="utf-8") if index.exists() else ""
        assert path == index == ROOT / "docs" / "index.md" or f"]({link})" in first or f"]({path.name})" in listed, link
        assert "guides/" not in link or f"](docs/{link})" in readme, link
