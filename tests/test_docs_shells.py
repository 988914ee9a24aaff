"""Every command that a page, a help or a message tells a user to run arrives as it is written, in every shell.

A function named `linnaeus` records the words that the shell hands over; they must be the words as a person reads them.
`tests/test_docs.py` runs the commands themselves.
"""

import re
import shlex
import shutil
import subprocess

import pytest
from tests.documented import PAGES, ROOT, every_command, message_commands, page_commands, page_options

from linnaeus.cli.main import main

SHELLS = [
    pytest.param(name, marks=pytest.mark.skipif(not shutil.which(name), reason=f"there is no {name} here"))
    for name in ("bash", "zsh")
]
QUOTED = re.compile(r"'[^']*'|\"[^\"!$`\\]*\"")
SPECIAL = re.compile(r"[\[\]{}()*?~!#$`\\'\";]|(?:^|\s)=")
NOTHING = ("make", "pip", "cd", "jq", "zcat", "cat", "git", "curl", "python")
RECORDS = r"""linnaeus() { for word in "$@"; do printf '%s\0' "$word"; done; printf '\n\0'; } 2>/dev/null"""


def is_plain(command):
    """Whether no shell, not even an interactive one, reads anything into the characters outside of quotes."""
    return not SPECIAL.search(QUOTED.sub("x", command))


def recorded(shell, commands, folder):
    """The words that `linnaeus` gets from each command, each run by itself in an empty folder."""
    lines = [RECORDS.replace("printf", "builtin printf"), *(f"{name}() {{ :; }}" for name in NOTHING)]
    for i, command in enumerate(commands):
        lines += [f"{{ {_to_file(command)}\n}} > {folder}/{i}.words 2> {folder}/{i}.errors"]
    options = ["--norc", "--noprofile"] if shell == "bash" else ["-f"]
    subprocess.run([shell, *options, "-c", "\n".join(lines)], cwd=folder, check=False, timeout=60)
    return [(folder / f"{i}.words").read_text(encoding="utf-8") for i in range(len(commands))]


def _to_file(command):
    """The command without what leads its output elsewhere: here its output is the words."""
    return re.sub(r"\s(?:2>&1|[<>]\s*\S+)|(?:\s\|\s(?!linnaeus)[^|]*)+$", "", command)


def words_meant(command):
    """The words after `linnaeus`, as a person reads them."""
    words = shlex.split(_to_file(command))
    return words[words.index("linnaeus") + 1 :] if "linnaeus" in words else []


@pytest.mark.parametrize("shell", SHELLS)
def test_shells_hand_over_the_words_that_are_written(shell, tmp_path, source_tree):
    found = [(where, command) for where, command in every_command() if "linnaeus" in shlex.split(command)]
    assert len(found) > 100
    said = recorded(shell, [command for _, command in found], tmp_path)
    for (where, command), words in zip(found, said, strict=True):
        assert words.split("\0")[:-2] == words_meant(command), f"{where}: {command}"


@pytest.mark.parametrize("path", PAGES, ids=[str(path.relative_to(ROOT)) for path in PAGES])
def test_commands_of_pages_mean_the_same_in_every_shell(path):
    text = path.read_text(encoding="utf-8")
    assert [line for line in [*page_commands(text), *page_options(text)] if not is_plain(line)] == []


def test_commands_of_helps_and_messages_mean_the_same_in_every_shell():
    assert [found for found in every_command() if not is_plain(found[1])] == []


def test_messages_that_suggest_commands_are_found(source_tree):
    found = set(message_commands())
    assert {"linnaeus inspect model.lin", "echo TEXT | linnaeus predict MODEL"} <= found


@pytest.mark.parametrize(
    "command",
    [
        "linnaeus train a.csv --set features.ngrams=[1,3]",
        'linnaeus train a.csv --set thresholds={kind=\\"precision\\",precision=0.99}',
        'linnaeus tag pos.lin "The cats bark!"',
        "linnaeus explain spam.lin   # what it has learned",
    ],
)
def test_what_a_shell_breaks_is_noticed(command):
    assert not is_plain(command)


def test_quoted_words_are_plain():
    assert is_plain("""echo "a text" | linnaeus train a.csv --set 'ngrams=[1,3]' 2>&1 | cat > words.txt""")


def test_words_that_bash_changes_are_noticed(tmp_path):
    if not shutil.which("bash"):
        pytest.skip("there is no bash here")
    command = 'linnaeus train a.csv --set thresholds={kind=\\"precision\\",precision=0.99}'
    assert recorded("bash", [command], tmp_path)[0].split("\0")[:-2] != words_meant(command)


def test_commands_that_a_training_suggests_name_a_file_with_spaces(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{'good' if i % 2 else 'bad'} film {i},{'pos' if i % 2 else 'neg'}" for i in range(20)]
    (tmp_path / "my data.csv").write_text("\n".join(["text,label", *rows]))
    assert main(["train", "my data.csv", "--recipe", "fast", "--quiet"]) == 0
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("  linnaeus ")]
    assert len(lines) == 4
    assert all("my data.lin" in shlex.split(line) for line in lines)
