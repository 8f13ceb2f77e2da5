"""Edit distance over sequences of entities: ECER and EWER, whose result depends on the reading order."""

import numpy as np


def rank_within(keys):
    """For every item its position among the items of the same key.

    >>> rank_within(np.array([5, 3, 5, 5])).tolist()
    [0, 0, 1, 2]
    """
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    rank = np.empty(len(keys), np.int64)
    rank[order] = np.arange(len(keys)) - np.searchsorted(ordered, ordered)
    return rank


def edit_sequences(lengths, sequence, row, column, cost):
    """The edit distance of many pairs of sequences: inserting and deleting cost 1, and so does replacing, unless
    a cell (number of the pair of sequences, row, column) says that it costs less.

    `lengths` holds the numbers of references (rows) and of predictions (columns).

    >>> cells = np.array([0]), np.array([1]), np.array([0]), np.array([0.25])
    >>> edit_sequences((np.array([2, 0]), np.array([1, 3])), *cells).tolist()
    [1.25, 3.0]
    """
    totals = np.maximum(*lengths).astype(float)
    shapes, shape = np.unique(np.stack(lengths, axis=1)[np.unique(sequence)], axis=0, return_inverse=True)
    shape_of = np.zeros(len(totals), np.int64)
    shape_of[np.unique(sequence)] = shape
    order = np.lexsort((row, shape_of[sequence]))
    starts = np.searchsorted(shape_of[sequence[order]], np.arange(len(shapes) + 1))
    for number, (rows, columns) in enumerate(shapes.tolist()):
        cells = order[starts[number] : starts[number + 1]]
        some, place = np.unique(sequence[cells], return_inverse=True)
        totals[some] = _edit(len(some), rows, columns, place, row[cells], column[cells], cost[cells])
    return totals


def _edit(number, rows, columns, place, row, column, cost):
    """The distances of sequences of one shape, row by row, all sequences and columns of a row at once."""
    steps = np.arange(columns + 1.0)
    distance = np.tile(steps, (number, 1))
    starts = np.searchsorted(row, np.arange(rows + 1))
    for current in range(rows):
        cells = slice(starts[current], starts[current + 1])
        replacing = np.ones((number, columns))
        replacing[place[cells], column[cells]] = cost[cells]
        best = np.empty_like(distance)
        best[:, 0] = current + 1
        np.minimum(distance[:, 1:] + 1, distance[:, :-1] + replacing, out=best[:, 1:])
        # Inserting predictions from any earlier column on; where none is inserted, nothing is rounded.
        fewest = np.minimum.accumulate(best - steps, axis=1)
        distance = np.where(fewest == best - steps, best, fewest + steps)
    return distance[:, -1]
