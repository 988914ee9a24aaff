"""The array operations that networks are written in, by PyTorch: for training. See `learners.networks.operations`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from linnaeus.neural import library


class TorchOperations:
    """The operations in PyTorch; while `generator` is given, `drop` leaves out the share `dropout` at random."""

    def __init__(self, dropout: float = 0.0, generator: Any = None) -> None:
        self.torch: Any = library("torch", "Training a network")
        self.dropout, self.generator = dropout, generator

    def take(self, table: Any, ids: Any) -> Any:
        """The rows of a table at these numbers (..., width)."""
        return self.torch.nn.functional.embedding(ids, table)

    def one_hot(self, ids: Any, table: Any) -> Any:
        """Indicators of these numbers (..., rows of the table)."""
        return self.torch.nn.functional.one_hot(ids, len(table)).to(table.dtype)

    def bag(self, table: Any, batch: Mapping[str, Any]) -> Any:
        """Sums of rows of a table, times the values of sparse rows (n, width)."""
        return self.torch.nn.functional.embedding_bag(
            batch["ids"],
            table,
            batch["offsets"],
            mode="sum",
            per_sample_weights=batch["values"].to(table.dtype),
            include_last_offset=True,
        )

    def dot(self, x: Any, W: Any) -> Any:
        """The product of the last axis and a matrix."""
        return self.torch.matmul(x, W)

    def matmul(self, a: Any, b: Any) -> Any:
        """The products of the matrices of each example."""
        return self.torch.matmul(a, b)

    def concat(self, parts: Sequence[Any], axis: int) -> Any:
        """Arrays one after the other, or side by side."""
        return self.torch.cat(list(parts), dim=axis)

    def stack(self, parts: Sequence[Any]) -> Any:
        """The parts (n, width) as places of a sequence (n, parts, width)."""
        return self.torch.stack(list(parts), dim=1)

    def pad(self, x: Any, before: int, after: int) -> Any:
        """Zeros before the first place and behind the last one (n, before + places + after, width)."""
        return self.torch.nn.functional.pad(x, (0, 0, before, after))

    def windows(self, x: Any, width: int, stride: int) -> Any:
        """Each window of neighboring places as one row (n, windows, width * columns)."""
        count = (x.shape[1] - width) // stride + 1
        return self.torch.cat([x[:, j : j + (count - 1) * stride + 1 : stride] for j in range(width)], dim=2)

    def below(self, count: int, limits: Any) -> Any:
        """Whether each of so many places is below the limit of its example (n, count)."""
        return self.torch.arange(count, device=limits.device) < limits[:, None]

    def where(self, mask: Any, x: Any, value: float) -> Any:
        """The numbers where the mask is true, elsewhere the value."""
        return x.masked_fill(~mask, value)

    def numbers(self, mask: Any, like: Any) -> Any:
        """A mask, or any array, as numbers of the type of another."""
        return self.torch.as_tensor(mask, device=like.device).to(like.dtype)

    def sum(self, x: Any, axis: int) -> Any:
        """Sums along an axis, which stays."""
        return x.sum(dim=axis, keepdim=True)

    def highest(self, x: Any, axis: int) -> Any:
        """The largest numbers along an axis, which goes; the gradient is that of the first of equal ones."""
        return x.max(dim=axis).values

    def top(self, x: Any, k: int) -> Any:
        """The k largest numbers of each column, in the order of their places (n, k, width)."""
        places = self.torch.topk(x, k, dim=1).indices.sort(dim=1).values
        return x.gather(1, places)

    def softmax(self, x: Any) -> Any:
        """The softmax along the last axis."""
        return self.torch.softmax(x, dim=-1)

    def root(self, x: Any) -> Any:
        """Square roots."""
        return self.torch.sqrt(x)

    def swap(self, x: Any, a: int, b: int) -> Any:
        """Two axes exchanged."""
        return x.transpose(a, b)

    def drop(self, x: Any) -> Any:
        """The numbers without a random share, and the others larger by as much."""
        if self.generator is None or not self.dropout:
            return x
        kept = self.torch.empty_like(x).bernoulli_(1.0 - self.dropout, generator=self.generator)
        return x * kept / (1.0 - self.dropout)

    def relu(self, x: Any) -> Any:
        """max(0, x)."""
        return self.torch.relu(x)

    def tanh(self, x: Any) -> Any:
        """The hyperbolic tangent."""
        return self.torch.tanh(x)

    def sigmoid(self, x: Any) -> Any:
        """1 / (1 + e^-x)."""
        return self.torch.sigmoid(x)

    def gelu(self, x: Any) -> Any:
        """Half of x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))."""
        return self.torch.nn.functional.gelu(x, approximate="tanh")
