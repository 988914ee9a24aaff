"""What the extractors share, inside this room only: looking into batches, statistics of columns, names.

sources.py  texts however they come        seen.py    document frequencies, lengths, sums for each label
pieces.py   columns of a batch, fixed cuts  names.py   names of columns, made when asked for
cells.py    numbers and categories          bags.py    the distinct words of texts
"""
