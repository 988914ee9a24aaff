"""Tasks: what an example is, what its truth is, and how an answer is said.

examples    what a training learns from;  keys  which examples are equal
classify/   classes, label sets and numbers of texts
tag/        tags of tokens
rank/       the best of an example's own candidates
"""
