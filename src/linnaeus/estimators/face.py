"""What all faces share: scikit-learn's manners around nested frozen pieces, and a fitted linear model.

Only faces mutate themselves, because that is their users' convention. A face is a dataclass whose fields are its
parameters; `composed()` is the general face it equals, and the one that `fit` reads.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from linnaeus import store
from linnaeus.arrays import linear
from linnaeus.erm.pieces import KINDS, nested, replaced
from linnaeus.errors import ModelFileError
from linnaeus.estimators.files import face_of, state_of
from linnaeus.estimators.matrices import checked

if TYPE_CHECKING:
    from linnaeus.erm import Trace
    from linnaeus.types import Doubles, Floats


LEARNED = (
    *("params_", "trace_", "memory_", "n_features_in_", "feature_names_in_"),
    *("classes_", "form_", "space_", "one_target_"),
)
"""All that a training leaves in a face."""


class Face(BaseEstimator):  # type: ignore[misc]
    """A linear model that scikit-learn knows how to handle."""

    params_: dict[str, Floats]
    trace_: Trace

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters; deep: with those of the pieces, such as `regularizer__strength`."""
        found: dict[str, Any] = super().get_params(deep=False)
        if deep:
            for name in [name for name in found if name in KINDS]:
                found.update(nested(name, found[name]))
        return found

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of a piece replace the frozen piece by a new one. If one is refused, none is set."""
        before = dict(vars(self))
        try:
            self._set(params)
        except Exception:
            self.__dict__.update(before)
            raise
        return self

    def _set(self, params: dict[str, Any]) -> None:
        plain = {name: value for name, value in params.items() if name.partition("__")[0] not in KINDS}
        whole = {name: value for name, value in params.items() if name in KINDS}
        super().set_params(**plain, **whole)
        inside: dict[str, dict[str, Any]] = {}
        for path, value in params.items():
            name, _, rest = path.partition("__")
            if rest and name in KINDS:
                inside.setdefault(name, {})[rest] = value
        for name, changes in inside.items():
            super().set_params(**{name: replaced(name, getattr(self, name, None), changes)})

    @property
    def coef_(self) -> Floats:
        """The weights as scikit-learn lays them out: one row for each score (w, d)."""
        self._expect_fit("coef_")
        return self.params_["W"].T

    @property
    def intercept_(self) -> Any:
        """The biases (w,); zeros where there is none."""
        self._expect_fit("intercept_")
        W = self.params_["W"]
        return self.params_.get("b", np.zeros(W.shape[1], W.dtype))

    @property
    def n_iter_(self) -> int:
        """Epochs or iterations of the last training."""
        self._expect_fit("n_iter_")
        return self.trace_.last.epoch if len(self.trace_) else 0

    def save(self, path: str | os.PathLike[str], force: bool = False) -> None:
        """Write the fitted model to one file, without pickle; with `force` a file of that name is replaced."""
        store.save(path, state_of(self), force)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """A fitted model from a file that `save` wrote."""
        face = face_of(store.load(path))
        if not isinstance(face, cls):
            raise ModelFileError(f"{path} holds a {type(face).__name__}; load it with that class.")
        found: Self = face
        return found

    def _become(self, **learned: Any) -> Self:
        """Take over a training that is done, in place of all before it: one that fails changes nothing."""
        for name in LEARNED:
            self.__dict__.pop(name, None)
        self.__dict__.update(learned)
        return self

    def _expect_fit(self, name: str) -> None:
        """An attribute of a fitted model is not there before: `hasattr` says so."""
        if "params_" not in self.__dict__:
            raise AttributeError(f"{type(self).__name__} has no {name} before fit.")

    def _scores(self, X: Any) -> Doubles:
        """X W + b  (n, w), of checked rows."""
        check_is_fitted(self, "params_")
        return linear.scores(checked(self, X), self.params_)  # type: ignore[arg-type]
