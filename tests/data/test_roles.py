import pyarrow as pa
import pytest

from linnaeus.data import read
from linnaeus.data.options import ReadOptions
from linnaeus.data.roles import assign
from linnaeus.errors import DataError


def roles(*names: str, kinds=None, **options):
    kinds = kinds or [pa.string()] * len(names)
    return assign("a.csv", pa.schema(list(zip(names, kinds, strict=True))), ReadOptions(**options))


@pytest.mark.parametrize(
    ("names", "text", "label"),
    [
        (("text", "label"), "text", "label"),
        (("Review", "Sentiment"), "Review", "Sentiment"),
        (("title", "text", "category"), "text", "category"),
        (("utterance", "intent", "id"), "utterance", "intent"),
        (("label", "anything"), "anything", "label"),
        (("whatever",), "whatever", None),
        (("text", "other"), "text", None),
        (("text", "label", "class"), "text", "label"),
        (("text", "class", "topic"), "text", None),
    ],
)
def test_plain_names(names, text, label):
    found = roles(*names)
    assert (found.text, found.label) == (text, label)
    assert "text" in found.guessed


def test_the_only_text_by_type():
    found = roles("when", "said", "n", kinds=[pa.date32(), pa.large_string(), pa.int64()])
    assert found.text == "said"
    with pytest.raises(DataError, match="no column is text"):
        roles("a", "b", kinds=[pa.int64(), pa.int64()])


def test_what_is_given_is_no_guess():
    found = roles("a", "b", "weight", "group", "id", "day", text="a", label="b", time="day")
    assert found.describe() == (
        "text 'a', label 'b', weight 'weight' (guessed), group 'group' (guessed), id 'id' (guessed), time 'day'"
    )
    assert found.guessed == ("weight", "group", "id")


def test_the_empty_string_takes_a_role_away():
    found = roles("text", "label", "weight", label="", weight="")
    assert (found.label, found.weight) == (None, None)


def test_two_that_could_be_the_text_are_listed():
    with pytest.raises(
        DataError, match="2 columns could be the text; name it with text=, the columns are 'title', 'body'"
    ):
        roles("title", "body")


def test_very_many_columns_are_not_all_listed():
    with pytest.raises(DataError, match="and 80 more"):
        roles(*(f"c{i}" for i in range(100)))


def test_id_and_time_stay_among_the_columns():
    corpus = read({"text": ["a"], "id": ["7"], "day": ["2026-11-15"]}, time="day")
    assert set(corpus.batch().columns) == {"id", "day"}
    assert set(read({"text": ["a"], "id": ["7"], "day": ["1"]}, time="day", columns=[]).batch().columns) == {"day"}
