"""From terms to columns, inside this room only: which terms a text has, and the column of each.

grams.py     which terms, and where they stand       vocabulary.py  terms with a column, as arrays
counting.py  the distinct terms of a stream                        with their names, hashes, compact storage
exact.py     Exact, Given: a column for each         hashed.py      Hashed: columns by hash
"""
