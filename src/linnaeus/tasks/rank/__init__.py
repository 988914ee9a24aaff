"""The best of the candidates that each example brings."""
