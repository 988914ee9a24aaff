"""Folders with a train, a dev and a test part: one of them is read, never all by accident."""

import pytest

from linnaeus.data import read
from linnaeus.data.files import part_of
from linnaeus.data.sentence_reading import read_sentences
from linnaeus.errors import DataError, UsageError


def write(folder, **files):
    """Files by name, with one row each that names its file."""
    for name, suffix in files.items():
        path = folder / (name.replace("__", "/") + suffix)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"text,label\nfrom {name},x\n" if suffix == ".csv" else f"from {name}")
    return folder


def texts(*args, **options):
    return read(*args, **options).batch().text.to_pylist()


@pytest.mark.parametrize("names", [("train", "dev", "test"), ("sms_train", "sms-validation", "sms.test")])
def test_a_part_is_chosen(tmp_path, names):
    write(tmp_path, **dict.fromkeys(names, ".csv"))
    for split, name in zip(("train", "dev", "test"), names, strict=True):
        assert texts(tmp_path, split=split) == [f"from {name}"]
    assert len(texts(tmp_path, split="all")) == 3


def test_parts_are_not_pooled_silently(tmp_path):
    write(tmp_path, train=".csv", test=".csv")
    with pytest.raises(DataError, match=r"train \(train.csv\), test \(test.csv\); choose one with split='train'"):
        read(tmp_path)


def test_a_part_that_is_not_there_is_refused(tmp_path):
    write(tmp_path, train=".csv", dev=".csv")
    with pytest.raises(DataError, match="has no part 'test', but train"):
        read(tmp_path, split="test")


def test_an_unknown_part_and_a_plain_file_are_refused(tmp_path):
    write(tmp_path, train=".csv", test=".csv")
    with pytest.raises(UsageError, match="split='trian' is not one of 'train'"):
        read(tmp_path, split="trian")
    with pytest.raises(DataError, match="not a folder with parts"):
        read(tmp_path / "train.csv", split="train")


def test_shards_of_one_part_are_read_together(tmp_path):
    write(tmp_path, **{"train-0": ".csv", "train-1": ".csv"})
    assert len(texts(tmp_path)) == 2


def test_shards_of_a_chosen_part_are_read_together(tmp_path):
    write(tmp_path, **{"train-0": ".csv", "train-1": ".csv", "test-0": ".csv", "notes": ".csv"})
    assert texts(tmp_path, split="train") == ["from train-0", "from train-1"]
    assert len(texts(tmp_path, split="all")) == 4


def test_folders_of_classes_are_read_as_before(tmp_path):
    write(tmp_path, pos__1=".txt", neg__2=".txt")
    assert read(tmp_path).classes == ("neg", "pos")


def test_classes_may_be_called_as_parts_are(tmp_path):
    write(tmp_path, train__1=".txt", test__2=".txt", bus__3=".txt")
    assert read(tmp_path).classes == ("bus", "test", "train")


def test_folders_of_classes_within_folders_of_parts(tmp_path):
    write(tmp_path, train__pos__1=".txt", train__neg__2=".txt", test__pos__3=".txt", test__neg__4=".txt")
    assert read(tmp_path, split="train").classes == ("neg", "pos")
    assert texts(tmp_path, split="test") == ["from test__neg__4", "from test__pos__3"]
    assert len(texts(tmp_path, split="all")) == 4
    assert read(tmp_path / "train").classes == ("neg", "pos")


def test_data_files_within_folders_of_parts(tmp_path):
    write(tmp_path, train__a=".csv", train__b=".csv", test__a=".csv")
    assert len(texts(tmp_path, split="train")) == 2


def test_sentences_have_parts_too(tmp_path):
    for name in ("train", "dev", "test"):
        (tmp_path / f"en-{name}.conll").write_text(f"{name} X\n\n")
    assert read_sentences(tmp_path, split="dev").lists() == [["dev"]]


@pytest.mark.parametrize(
    ("name", "part"),
    [
        ("train.csv", "train"),
        ("x_valid_2.tsv", "dev"),
        ("TEST.csv.gz", "test"),
        ("testament.csv", None),
        ("a.csv", None),
    ],
)
def test_names_tell_parts(name, part):
    assert part_of(name) == part


def test_a_name_with_two_parts_tells_none():
    assert part_of("train_test.csv") is None
