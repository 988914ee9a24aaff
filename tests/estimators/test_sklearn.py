"""scikit-learn's own checks over every face."""

from __future__ import annotations

from typing import Any

from sklearn.utils.estimator_checks import parametrize_with_checks

from linnaeus.estimators import FACES
from linnaeus.estimators.named import AveragedPerceptron, PassiveAggressive, Perceptron

ORDER = "learns one example at a time: a row seen twice moves it twice, a weight of two makes one step twice as long"
EXPECTED = {
    "check_sample_weight_equivalence_on_dense_data": ORDER,
    "check_sample_weight_equivalence_on_sparse_data": ORDER,
}


def expected_failed_checks(face: Any) -> dict[str, str]:
    return EXPECTED if isinstance(face, Perceptron | AveragedPerceptron | PassiveAggressive) else {}


@parametrize_with_checks([face() for face in FACES.values()], expected_failed_checks=expected_failed_checks)
def test_the_checks_of_scikit_learn(estimator: Any, check: Any) -> None:
    check(estimator)
