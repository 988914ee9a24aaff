"""Per-example learners refuse arrays that do not fit, before anything is changed."""

from __future__ import annotations

import numpy as np
import pytest

from linnaeus import kernels
from linnaeus.kernels.online import LOSSES, SPACES, Layout
from linnaeus.kernels.reference import online as twins

NONE = np.zeros(0)
JOINT, LOG = SPACES["joint"], LOSSES["log"]


def arguments():
    layout = Layout(3, 1)
    return {
        "indptr": np.array([0, 1, 3], np.int64),
        "indices": np.array([0, 1, 3], np.int32),
        "data": np.ones(3),
        "offsets": np.array([0, 1, 2], np.int64),
        "labels": np.array([0, 2], np.int32),
        "weights": NONE,
        "order": np.array([1, 0], np.int32),
        "rates": np.ones(2),
        "table": layout.zeros(4),
        "bias": layout.zeros(1)[0],
        "clock": np.zeros(3),
        "flags": layout.flags,
        "loss": (JOINT, LOG, NONE),
        "penalty": (0.0, 0.0, 1.0),
    }


def call(module, a):
    return module.learn_sgd(
        (a["indptr"], a["indices"], a["data"]),
        (a["offsets"], a["labels"], a["weights"]),
        (a["order"], a["rates"]),
        (a["table"], a["bias"], a["clock"], a["flags"]),
        a["loss"],
        a["penalty"],
    )


HOSTILE = [
    ({"indptr": np.array([0, 1, 4], np.int64)}, "offsets do not fit the values"),
    ({"indptr": np.array([0, 4, 3], np.int64)}, "offsets do not fit the values"),
    ({"indptr": np.array([-1, 1, 3], np.int64)}, "offsets do not fit the values"),
    ({"indptr": np.zeros(0, np.int64)}, "another length"),
    ({"data": np.ones(2)}, "offsets do not fit the values"),
    ({"indices": np.array([0, 1, 4], np.int32)}, "column"),
    ({"indices": np.array([0, -1, 2], np.int32)}, "column"),
    ({"offsets": np.array([0, 1], np.int64)}, "another length"),
    ({"offsets": np.array([0, 1, 3], np.int64)}, "offsets do not fit the labels"),
    ({"offsets": np.array([0, 0, 2], np.int64)}, "exactly one label"),
    ({"labels": np.array([0, 3], np.int32)}, "label is not a class"),
    ({"labels": np.array([-1, 0], np.int32)}, "label is not a class"),
    ({"weights": np.ones(3)}, "another length"),
    ({"order": np.array([0, 2], np.int32)}, "order"),
    ({"order": np.array([0, -1], np.int32)}, "order"),
    ({"rates": np.ones(3)}, "one rate"),
    ({"table": np.zeros((4, 5))}, "layout"),
    ({"bias": np.zeros(3)}, "layout"),
    ({"clock": np.zeros(2)}, "clock"),
    ({"flags": (0, False, False)}, "classes"),
    ({"flags": (3, True, False)}, "layout"),
    ({"loss": (2, LOG, NONE)}, "no such"),
    ({"loss": (JOINT, 99, NONE)}, "no such"),
    ({"loss": (JOINT, -1, NONE)}, "no such"),
    ({"loss": (JOINT, LOG, np.zeros(8))}, "stakes"),
    ({"penalty": (-1.0, 0.0, 1.0)}, "penalty"),
    ({"penalty": (0.0, np.nan, 1.0)}, "penalty"),
    ({"penalty": (0.0, 0.0, 0.0)}, "penalty"),
    ({"penalty": (0.0, 1.0, 1.0)}, "clocks"),
]


@pytest.mark.parametrize("module", [kernels, twins])
@pytest.mark.parametrize(("change", "sentence"), HOSTILE)
def test_arrays_that_do_not_fit_are_refused(module, change, sentence):
    given = arguments() | change
    with pytest.raises(ValueError, match=sentence):
        call(module, given)
    assert not given["table"].any()


@pytest.mark.parametrize("module", [kernels, twins])
def test_settings_that_do_not_fit_are_refused(module):
    a = arguments()
    rows, truth = (a["indptr"], a["indices"], a["data"]), (a["offsets"], a["labels"], NONE)
    flat = (a["table"], a["bias"], a["clock"], a["flags"])
    for limits in ((0.0, 0.0), (1.0, -1.0), (np.nan, 0.0)):
        with pytest.raises(ValueError, match="cap"):
            module.learn_aggressive(rows, truth, a["order"], flat, JOINT, limits)
    with pytest.raises(ValueError, match="clocks"):
        module.settle_sgd(flat, (0.0, 1.0, 1.0))
    deep = Layout(3, 3)
    state = deep.zeros(4), deep.zeros(1)[0], np.zeros(3), deep.flags
    with pytest.raises(ValueError, match="FTRL"):
        module.learn_ftrl(rows, truth, a["order"], state, a["loss"], (0.0, 1.0, 0.0, 0.0))
    wide = Layout(3, 2)
    state = wide.zeros(4), wide.zeros(1)[0], np.zeros(3), wide.flags
    with pytest.raises(ValueError, match="eps"):
        module.learn_adagrad(rows, truth, (a["order"], a["rates"]), state, a["loss"], (0.0, 0.0, 1.0, 0.0))


@pytest.mark.parametrize("module", [kernels, twins])
def test_a_mean_that_has_no_closed_form_is_refused(module):
    a = arguments()
    rows, truth = (a["indptr"], a["indices"], a["data"]), (a["offsets"], a["labels"], NONE)
    layout = Layout(3, 1, True, True)
    state = layout.zeros(4), layout.zeros(1)[0], np.zeros(3), layout.flags
    with pytest.raises(ValueError, match="no mean"):
        module.learn_sgd(rows, truth, (a["order"], a["rates"]), state, a["loss"], (0.5, 0.0, 1.0))


@pytest.mark.native
def test_a_table_of_another_type_is_refused_not_copied():
    a = arguments()
    with pytest.raises(TypeError):
        call(kernels, a | {"table": a["table"].astype(np.int64)})


@pytest.mark.parametrize("module", [kernels, twins])
def test_no_examples_at_all(module):
    a = arguments() | {"order": np.zeros(0, np.int32), "rates": NONE}
    assert call(module, a) == (0.0, 0)


def test_numbers_that_are_none_do_no_harm():
    a = arguments() | {"data": np.array([np.nan, np.inf, -np.inf])}
    _, mistakes = call(kernels, a)
    assert 0 <= mistakes <= len(a["order"])
