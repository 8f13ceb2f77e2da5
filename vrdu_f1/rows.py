"""Which rows of the two sides are the same in every field: line items, hierarchical entities.

Two rows are the same when they have the same fields, each as often, and every value matches. Rows are matched
one to one within a block, as many as can be; that number depends on no order.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from .columns import rows_as_binary
from .matching import common_runs, match_equal, match_matrix


@dataclass(frozen=True)
class RowSide:
    """The rows of one side: the block of each row, and for every entity of the side its row."""

    block: np.ndarray
    entity_row: np.ndarray


def match_rows(batch, identity, predictions, references):
    """Positions of the predicted and the reference rows that are the same, one to one."""
    sides = [
        _SortedRows(rows, side, code)
        for rows, side, code in zip((predictions, references), batch.sides, identity.codes, strict=True)
    ]
    shapes = _encode([side.by_row(side.entity_type) for side in sides])
    contents = _encode([side.by_row(side.code) for side in sides])
    is_fuzzy = [side.has_any(identity.fuzzy) for side in sides]
    exact = [np.flatnonzero(~fuzzy) for fuzzy in is_fuzzy]
    width = max((codes.max(initial=-1) for codes in (*shapes, *contents)), default=0) + 1
    found = match_equal(
        *(side.block[rows] * width + content[rows] for side, rows, content in zip(sides, exact, contents, strict=True))
    )
    matched = [[rows[positions]] for rows, positions in zip(exact, found, strict=True)]
    fuzzy = [np.flatnonzero(fuzzy) for fuzzy in is_fuzzy]
    keys = [side.block[rows] * width + shape[rows] for side, rows, shape in zip(sides, fuzzy, shapes, strict=True)]
    for some, others in common_runs(*keys):
        some, others = fuzzy[0][some], fuzzy[1][others]
        same = _same_rows(batch, identity, sides[0].matrix(some), sides[1].matrix(others))
        row, column = linear_sum_assignment(same, maximize=True)
        is_same = same[row, column]
        matched[0].append(some[row[is_same]])
        matched[1].append(others[column[is_same]])
    return tuple(np.concatenate(rows) for rows in matched)


class _SortedRows:
    """The entities of a side, sorted by row and in a row by content."""

    def __init__(self, rows, side, code):
        order = np.lexsort((code, rows.entity_row))
        self.block = rows.block
        self.entity_row = rows.entity_row[order]
        self.entity_type, self.value, self.code = side.entity_type[order], side.entity_value[order], code[order]
        self.offsets = np.concatenate([[0], np.cumsum(np.bincount(rows.entity_row, minlength=len(rows.block)))])

    def by_row(self, numbers):
        return rows_as_binary(numbers, self.offsets)

    def has_any(self, fuzzy):
        found = np.zeros(len(self.block), bool)
        found[self.entity_row[fuzzy[self.entity_type]]] = True
        return found

    def matrix(self, rows):
        """Types of the columns, and values and codes of rows that all have the same types."""
        cells = self.offsets[rows][:, None] + np.arange(self.offsets[rows[0] + 1] - self.offsets[rows[0]])
        return self.entity_type[cells[0]], self.value[cells], self.code[cells]


def _encode(columns):
    """Numbers that are equal where the binary values of either side are."""
    encoded = pa.chunked_array(columns).combine_chunks().dictionary_encode()
    return np.split(encoded.indices.to_numpy().astype(np.int64), [len(columns[0])])


def _same_rows(batch, identity, predictions, references):
    """For rows of one shape, which predicted row (line) is the same as which reference row (column)."""
    types, values, codes = predictions
    _, other_values, other_codes = references
    same = np.ones((len(values), len(other_values)), bool)
    for entity_type in np.unique(types):
        columns = np.flatnonzero(types == entity_type)
        if not identity.fuzzy[entity_type]:
            for column in columns:
                same &= codes[:, column][:, None] == other_codes[:, column]
            continue
        comparator = identity.comparators[entity_type]
        if len(columns) == 1:
            same &= match_matrix(batch, comparator, values[:, columns[0]], other_values[:, columns[0]])
            continue
        for row, column in np.argwhere(same):
            some = match_matrix(batch, comparator, values[row, columns], other_values[column, columns])
            same[row, column] = some[linear_sum_assignment(some, maximize=True)].all()
    return same
