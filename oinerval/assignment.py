"""The best one-to-one assignment of every block: the least total cost, or the most pairs below a threshold."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching


def least_cost(blocks, costs):
    """The least total cost of min(rows, columns) pairs, per block."""
    first = blocks.first_cell
    totals = np.zeros(len(blocks.key))
    rows, columns = blocks.rows.count, blocks.columns.count
    is_line = np.minimum(rows, columns) == 1
    if len(totals):
        totals[is_line] = np.minimum.reduceat(costs, first[:-1])[is_line]
    is_square = (rows == 2) & (columns == 2)
    corner = first[:-1][is_square]
    totals[is_square] = np.minimum(costs[corner] + costs[corner + 3], costs[corner + 1] + costs[corner + 2])
    for block in np.flatnonzero(~is_line & ~is_square).tolist():
        cells = costs[first[block] : first[block + 1]].reshape(rows[block], columns[block])
        totals[block] = cells[linear_sum_assignment(cells)].sum()
    return totals


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
