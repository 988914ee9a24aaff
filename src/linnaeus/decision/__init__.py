"""Decisions: from class scores to probabilities, and from these to predictions or abstentions.

All learn from scores of rows that the model was not trained on (cross-fitting): a calibrator (`CALIBRATORS`) turns
scores into probabilities, `THRESHOLDS` are the probabilities from which labels are predicted, `Conformal` gives label
sets with a given coverage, `FittedScope` says how unlike the training rows a row is, costs take the prediction with the
lowest expected cost, and `ABSTENTIONS` say when not to predict one label. `Decision` is the recipe of all of these, and
`FittedDecision` the result.

To add a calibrator, a way to choose thresholds or an abstention: a frozen dataclass whose fields are its
hyper-parameters, and a row in its table; the tests run over the tables.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from linnaeus.lazy import room

if TYPE_CHECKING:
    from linnaeus.decision.abstention import ABSTENTIONS as ABSTENTIONS
    from linnaeus.decision.abstention import Confidence as Confidence
    from linnaeus.decision.abstention import Coverage as Coverage
    from linnaeus.decision.abstention import Decided as Decided
    from linnaeus.decision.abstention import InScope as InScope
    from linnaeus.decision.abstention import Margin as Margin
    from linnaeus.decision.abstention import as_abstention as as_abstention
    from linnaeus.decision.calibration import CALIBRATORS as CALIBRATORS
    from linnaeus.decision.calibration import NoCalibration as NoCalibration
    from linnaeus.decision.calibration import Temperature as Temperature
    from linnaeus.decision.conformal import STRANGENESS as STRANGENESS
    from linnaeus.decision.conformal import Conformal as Conformal
    from linnaeus.decision.decision import Decision as Decision
    from linnaeus.decision.fitted import FittedDecision as FittedDecision
    from linnaeus.decision.isotonic import Isotonic as Isotonic
    from linnaeus.decision.scores import cheapest as cheapest
    from linnaeus.decision.scores import expected_costs as expected_costs
    from linnaeus.decision.shared_sigmoid import SharedSigmoid as SharedSigmoid
    from linnaeus.decision.sigmoid import Sigmoid as Sigmoid
    from linnaeus.decision.thresholds import THRESHOLDS as THRESHOLDS
    from linnaeus.decision.thresholds import AtPrecision as AtPrecision
    from linnaeus.decision.thresholds import AtRecall as AtRecall
    from linnaeus.decision.thresholds import BestF1 as BestF1
    from linnaeus.decision.thresholds import Half as Half


__getattr__, __dir__ = room(__name__)
