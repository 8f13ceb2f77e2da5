"""Sums of rows of counts as tables of few rows, so that a large corpus is added up piece by piece."""

import math

import numpy as np
import pyarrow as pa

from .counts import SUMMED, Rows


def sum_rows(table):
    """A table of few rows that has the same sums, and so the same scores, as the given one.

    A sum of floats takes as many rows as it needs to lose nothing: in whichever pieces documents are added up,
    the scores are the same to the last digit. Lists that are no family of counts are joined.

    >>> table = pa.table({"right": [1, 0, 1], "error": [0.1, 0.2, 0.3]})
    >>> sum_rows(table).to_pydict()
    {'summed_documents': [3, 0], 'right': [2, 0], 'error': [0.6, 2.7755575615628914e-17]}
    """
    rows = Rows(table)
    columns = {SUMMED: pa.array([rows.documents], pa.int64())}
    for name in table.column_names:
        if name in rows.plain:
            columns[name] = pa.array(exact_sum(rows.plain[name]))
        elif name in rows.families:
            columns[name] = _sum_family(rows, name)
        elif name != SUMMED:
            columns[name] = _join_lists(table[name].combine_chunks())
    height = max(map(len, columns.values()))
    return pa.table({name: _with_nothing_below(column, height) for name, column in columns.items()})


def exact_sum(values):
    """The sum of whole numbers, or floats that add up to the very sum of the given ones, the nearest float first."""
    if values.dtype.kind != "f":
        return [int(values.sum(dtype=np.int64))]
    values, parts = values.tolist(), [math.fsum(values)]
    while rest := math.fsum([*values, *(-part for part in parts)]):
        parts.append(rest)
    return parts


def _sum_family(rows, name):
    """A row with the sums of every type; further rows with what a float could not hold."""
    _, types, counts = rows.families[name]
    zero = {count: values.dtype.type(0).item() for count, values in counts.items()}
    lists = [[]]
    for code, type_name in enumerate(rows.types[name]):
        sums = {count: exact_sum(values[types == code]) for count, values in counts.items()}
        for line in range(max(map(len, sums.values()))):
            if line == len(lists):
                lists.append([])
            entry = {count: parts[line] if line < len(parts) else zero[count] for count, parts in sums.items()}
            lists[line].append({"type": type_name, **entry})
    return pa.array(lists, _family_type(counts))


def _family_type(counts):
    kinds = {count: pa.float64() if values.dtype.kind == "f" else pa.int64() for count, values in counts.items()}
    return pa.list_(pa.struct([("type", pa.string()), *kinds.items()]))


def _join_lists(lists):
    entries = lists.flatten()
    return pa.ListArray.from_arrays(pa.array([0, len(entries)], pa.int32()), entries)


def _with_nothing_below(column, height):
    nothing = [] if pa.types.is_list(column.type) else 0
    return pa.concat_arrays([column, pa.array([nothing] * (height - len(column)), column.type)])
