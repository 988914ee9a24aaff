"""Which strengths are tried where not all of them are: a climb to the best one."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from linnaeus.tasks.examples import Leg


class Climb(Collection[float]):
    """Strengths to try, each chosen by the scores of those before: a strong one, then neighbors of the best so far.

    It ends at a strength whose neighbors are both worse; of equals the stronger is the better one.

    >>> path = Climb((10.0, 3.0, 1.0, 0.3, 0.1))
    >>> for strength in path:
    ...     path.tell({1.0: 0.8, 0.3: 0.7, 3.0: 0.9, 10.0: 0.6}[strength])
    ...     print(strength)
    3.0
    1.0
    10.0
    """

    def __init__(self, strengths: tuple[float, ...]) -> None:
        self.strengths = strengths
        self.scores: dict[int, float] = {}
        self._at = 0

    def __len__(self) -> int:
        return len(self.strengths)

    def __contains__(self, strength: object) -> bool:
        return strength in self.strengths

    def __iter__(self) -> Iterator[float]:
        while (at := self._next()) is not None:
            self._at = at
            yield self.strengths[at]

    @property
    def current(self) -> float:
        """The strength that was tried last."""
        return self.strengths[self._at]

    def tell(self, score: float) -> None:
        """The score of the strength that was tried last."""
        self.scores[self._at] = score

    def by_place(self, legs: list[Leg]) -> dict[int, Leg]:
        """The legs of this path, in the order of the walk, by the places of their strengths."""
        again, found = Climb(self.strengths), dict[int, Leg]()
        for leg, _ in zip(legs, again, strict=False):
            found[again._at] = leg
            again.tell(leg.score)
        return found

    def near_best(self, legs: dict[int, Leg]) -> list[int]:
        """The places of the best strength and of its neighbors."""
        best = _best({at: leg.score for at, leg in legs.items()})
        return [at for at in sorted(legs) if abs(at - best) <= 1]

    def _next(self) -> int | None:
        if not self.scores:
            return (len(self.strengths) - 1) // 3
        best = _best(self.scores)
        beside = (at for at in (best + 1, best - 1) if 0 <= at < len(self.strengths) and at not in self.scores)
        return next(beside, None)


def _best(scores: dict[int, float]) -> int:
    return max(sorted(scores), key=scores.__getitem__)
