"""The best one-to-one assignment of every block: the least total cost, or the most pairs below a threshold."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching


def assign(blocks, rates_of, thresholds):
    """The least total cost of min(rows, columns) pairs of each block, and for each threshold the most pairs.

    Most entities were read right, so that the costs of few rows tell: where every row can have the column that is
    nearest to it, no assignment is better. The costs of all rows are computed where two want the same column.
    """
    open_rows = blocks.with_open_rows()
    open_rates = rates_of(open_rows)
    block, least, is_contested = _wishes(open_rows, open_rates)
    wants = least < 1  # a row that costs 1 everywhere costs as much without a column
    number = len(blocks.key)
    granted = np.bincount(block[wants], minlength=number)
    cost = np.bincount(block[wants], least[wants], minlength=number) + (blocks.fewer - blocks.paired - granted)
    matches = [blocks.paired + np.bincount(block[least <= threshold], minlength=number) for threshold in thresholds]
    contested = np.flatnonzero(is_contested)
    whole = blocks.select(contested)
    rates = _rates_of_whole(whole, rates_of, [_cells(open_rows, open_rates, block) for block in contested.tolist()])
    cost[contested] = least_cost(whole, rates)
    for found, threshold in zip(matches, thresholds, strict=True):
        found[contested] = most_pairs(whole, rates, threshold)
        np.minimum(found, blocks.fewer, out=found)
    return cost, matches


def _rates_of_whole(blocks, rates_of, open_cells):
    """The costs of blocks of which those of the open rows are known: the paired rows stand before them."""
    paired_rows = blocks.with_paired_rows()
    paired_rates = rates_of(paired_rows)
    parts = [np.zeros(0)]
    for block, cells in enumerate(open_cells):
        parts += [_cells(paired_rows, paired_rates, block), cells]
    return np.concatenate(parts)


def least_cost(blocks, costs):
    """The least total cost of min(rows, columns) pairs, per block."""
    totals = np.zeros(len(blocks.key))
    for block, columns in enumerate(blocks.columns.count.tolist()):
        matrix = _cells(blocks, costs, block).reshape(-1, columns)
        totals[block] = matrix[linear_sum_assignment(matrix)].sum()
    return totals


def _cells(blocks, costs, block):
    return costs[blocks.first_cell[block] : blocks.first_cell[block + 1]]


def _wishes(blocks, costs):
    """The block and the least cost of every row, and the blocks in which a row cannot have a column of that cost.

    A row wants one that is not paired; of several, the n-th row of a block wants the n-th.
    """
    number_of_rows = int(blocks.rows.count.sum())
    block = np.repeat(np.arange(len(blocks.key)), blocks.rows.count)
    is_contested = np.zeros(len(blocks.key), bool)
    if not number_of_rows:
        return block, np.zeros(0), is_contested
    cells_of_row = blocks.cells_of_row
    first = np.cumsum(cells_of_row) - cells_of_row
    least = np.minimum.reduceat(costs, first)
    nearest = np.flatnonzero(costs == np.repeat(least, cells_of_row))
    row = np.searchsorted(first, nearest, "right") - 1
    column = nearest - first[row]
    may_have = column >= blocks.paired[block[row]]
    row, column = row[may_have], column[may_have]
    choices = np.bincount(row, minlength=number_of_rows)
    rank = np.arange(number_of_rows) - np.repeat(np.cumsum(blocks.rows.count) - blocks.rows.count, blocks.rows.count)
    chosen = np.cumsum(choices) - choices + rank % np.maximum(choices, 1)
    happy = np.flatnonzero((least < 1) & (choices > 0))
    wanted = blocks.columns.start[block[happy]] + column[chosen[happy]]
    is_contested[block[happy][np.bincount(wanted)[wanted] > 1]] = True
    is_contested[block[(least < 1) & (choices == 0)]] = True
    return block, least, is_contested


def most_pairs(blocks, costs, threshold):
    """How many pairs of at most this cost can be formed, per block."""
    if threshold >= 1:
        return np.minimum(blocks.rows.count, blocks.columns.count)
    edges = np.flatnonzero(costs <= threshold)
    block, row, column = blocks.locate(edges)
    shape = len(blocks.rows.entity), len(blocks.columns.entity)
    starts = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=shape[0]))])
    graph = csr_array((np.ones(len(edges), bool), column, starts), shape)
    is_matched = maximum_bipartite_matching(graph, perm_type="column") >= 0
    _, first_edge = np.unique(row, return_index=True)
    matched = first_edge[is_matched[row[first_edge]]]
    return np.bincount(block[matched], minlength=len(blocks.key))
