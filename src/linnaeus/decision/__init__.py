"""Decisions: from class scores to probabilities, and from these to what is predicted, or to saying nothing.

All is learned from scores of rows that the model was not trained on (cross-fitting): a calibrator (`CALIBRATORS`) makes
probabilities of scores, `THRESHOLDS` say from which probability on a label is given, `Conformal` gives label sets with
a stated coverage, `scope` says how unlike the training rows a row is, `costs` takes the prediction that costs least on
average, and `ABSTENTIONS` say when not to predict one label. `Decision` is the recipe of it all, `FittedDecision` what
it learned.

To add a calibrator, a way to choose thresholds or an abstention: a frozen dataclass whose fields are its
hyper-parameters, and a row in its table; the tests run over the tables.
"""

from linnaeus.decision.abstain import ABSTENTIONS, Confidence, Coverage, Decided, InScope, Margin, as_abstention
from linnaeus.decision.calibrate import CALIBRATORS
from linnaeus.decision.conformal import STRANGENESS, Conformal
from linnaeus.decision.costs import cheapest, expected_costs
from linnaeus.decision.decide import Decision
from linnaeus.decision.fitted import FittedDecision
from linnaeus.decision.isotonic import Isotonic
from linnaeus.decision.sigmoid import Sigmoid
from linnaeus.decision.temperature import NoCalibration, Temperature
from linnaeus.decision.thresholds import THRESHOLDS, AtPrecision, AtRecall, BestF1, Half

__all__ = [
    "ABSTENTIONS",
    "CALIBRATORS",
    "STRANGENESS",
    "THRESHOLDS",
    "AtPrecision",
    "AtRecall",
    "BestF1",
    "Confidence",
    "Conformal",
    "Coverage",
    "Decided",
    "Decision",
    "FittedDecision",
    "Half",
    "InScope",
    "Isotonic",
    "Margin",
    "NoCalibration",
    "Sigmoid",
    "Temperature",
    "as_abstention",
    "cheapest",
    "expected_costs",
]
