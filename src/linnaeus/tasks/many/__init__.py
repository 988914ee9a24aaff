"""Texts with very many labels: the answers are the best labels of each text, and nothing has a number for every label.

task       `ManyLabels`, the answers to the questions of `tasks.base.Task`
learning   a label tree learned from rows, and its answers to held-out rows
answers    the best labels, their chances, and what is said, judged and explained of them
"""
