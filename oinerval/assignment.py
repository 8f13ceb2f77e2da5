"""The best one-to-one assignment of every block: the least total cost, or the most pairs below a threshold."""

import numpy as np
from scipy.optimize import linear_sum_assignment
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching


def least_cost(blocks, costs):
    """The least total cost of min(rows, columns) pairs, per block."""
    totals, is_solved = _cost_of_favourites(blocks, costs)
    first = blocks.first_cell.tolist()
    rows, columns = blocks.rows.count.tolist(), blocks.columns.count.tolist()
    left = np.flatnonzero(~is_solved)
    chosen = [np.zeros(0, np.int64)]
    for block in left.tolist():
        cells = costs[first[block] : first[block + 1]].reshape(rows[block], columns[block])
        row, column = linear_sum_assignment(cells)
        chosen.append(first[block] + row * columns[block] + column)
    pairs = np.repeat(left, np.minimum(blocks.rows.count, blocks.columns.count)[left])
    assigned = np.bincount(pairs, costs[np.concatenate(chosen)], minlength=len(totals))
    return np.where(is_solved, totals, assigned)


def _cost_of_favourites(blocks, costs):
    """The cost where every row is paired with its nearest column, and whether no two rows want the same one.

    No assignment is cheaper, so that it is the least cost wherever it is possible. A row that costs 1 everywhere wants
    no column: it costs as much without.
    """
    if not len(costs):
        return np.zeros(len(blocks.key)), np.ones(len(blocks.key), bool)
    cells_of_row = blocks.cells_of_row
    first = np.cumsum(cells_of_row) - cells_of_row
    least = np.minimum.reduceat(costs, first)
    block = np.repeat(np.arange(len(blocks.key)), blocks.rows.count)
    nearest = np.flatnonzero(costs == np.repeat(least, cells_of_row))
    row = np.repeat(np.arange(len(first)), cells_of_row)[nearest]
    is_first = np.ones(len(row), bool)
    is_first[1:] = row[1:] != row[:-1]
    favourite = (nearest - first[row])[is_first]
    wants = least < 1
    column = blocks.columns.start[block] + favourite
    takers = np.bincount(column[wants])
    is_contested = np.zeros(len(blocks.key), bool)
    is_contested[block[wants][takers[column[wants]] > 1]] = True
    number = len(blocks.key)
    satisfied = np.bincount(block[wants], minlength=number)
    fewer = np.minimum(blocks.rows.count, blocks.columns.count)
    return np.bincount(block[wants], least[wants], minlength=number) + (fewer - satisfied), ~is_contested


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
