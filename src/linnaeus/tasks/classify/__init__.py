"""Classes, label sets and numbers of texts."""
