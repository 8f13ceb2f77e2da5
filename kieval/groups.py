"""Which groups of the two sides belong together, as KIEval defines it.

Groups of one document and type are paired so that they share the most identical entities and, among such
pairings, need the fewest corrections. Identical groups are paired first, so that a long table leaves a small
problem; the rest is an assignment per block (one document, one group type), its groups sorted by content, so
that nothing depends on the order of the input.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from scipy.optimize import linear_sum_assignment

from .columns import UNGROUPED, rank_binary, rank_rows, rows_as_binary
from .matching import match_equal, match_matrix

CELLS_AT_ONCE = 4_000_000


@dataclass(frozen=True)
class Pairing:
    """The pair that each group is in; an unmatched group has a pair of its own.

    The first pairs are the documents' own: entities of no group are compared with each other.
    """

    predictions: np.ndarray
    references: np.ndarray
    pairs: int


def pair_groups(batch, identity, confidence_matters=False):
    """The pairing of all groups of a batch."""
    predictions = _Groups(batch, batch.predictions, identity.predictions, identity, confidence_matters)
    references = _Groups(batch, batch.references, identity.references, identity)
    identical = _pair_identical(predictions, references)
    assigned = _Assignment(batch, identity, *_left_over(predictions, references, identical)).pairs()
    pairs = [np.where(groups.is_ungrouped, groups.document, -1) for groups in (predictions, references)]
    number = batch.documents
    for matched in (identical, assigned):
        for pair, groups in zip(pairs, matched, strict=True):
            pair[groups] = number + np.arange(len(groups))
        number += len(matched[0])
    for pair in pairs:
        alone = np.flatnonzero(pair < 0)
        pair[alone] = number + np.arange(len(alone))
        number += len(alone)
    return Pairing(*pairs, number)


class _Groups:
    """The groups of one side, with their entities sorted by content within each group."""

    def __init__(self, batch, side, code, identity, confidence_matters=False):
        order = _order_by_group(side.entity_group, code)
        if confidence_matters:
            order = np.lexsort((-side.confidence, code, side.entity_group))
        self.document = side.group_document
        self.is_ungrouped = np.array([name == UNGROUPED for name in batch.group_types], bool)[side.group_type]
        self.block = side.group_document * len(batch.group_types) + side.group_type
        self.entity_group = side.entity_group[order]
        self.entity_type = side.entity_type[order]
        self.value = side.entity_value[order]
        self.code = code[order]
        self.offsets = np.concatenate([[0], np.cumsum(side.group_size)])
        self.is_fuzzy = np.zeros(len(self.document), bool)
        self.is_fuzzy[side.entity_group[identity.fuzzy[side.entity_type]]] = True
        # The order of groups that are the same: the more confident first, entity by entity.
        self.preference = np.zeros(len(self.document), np.int64)
        if confidence_matters:
            falling = np.iinfo(np.int64).max - (side.confidence[order] + 0.0).view(np.int64)
            self.preference = rank_rows(np.stack([falling, self.value], axis=1).ravel(), self.offsets * 2)

    def contents(self):
        """What each group holds, as a value that can be compared and sorted."""
        return rows_as_binary(self.code, self.offsets)


def _order_by_group(group, code):
    """The order of entities by group and code; one key sorts much faster than two."""
    codes = int(code.max(initial=0)) + 1
    if int(group.max(initial=0)) * codes < np.iinfo(np.int64).max - codes:
        return np.argsort(group * codes + code)
    return np.lexsort((code, group))


def _pair_identical(predictions, references):
    """Pairs of identical groups. To take them first loses nothing where being the same is an equivalence:
    |A ∩ B| + |A ∩ C| <= |A| + |B ∩ C|. Blocks with fuzzy types are left to the assignment."""
    sides = (predictions, references)
    contents = pa.chunked_array([side.contents() for side in sides]).combine_chunks().dictionary_encode()
    content = contents.indices.to_numpy().astype(np.int64)
    fuzzy_blocks = np.union1d(*(side.block[side.is_fuzzy] for side in sides))
    groups, keys = [], []
    for side, codes in zip(sides, np.split(content, [len(predictions.document)]), strict=True):
        may_pair = ~side.is_ungrouped & ~np.isin(side.block, fuzzy_blocks)
        groups.append(np.flatnonzero(may_pair))
        keys.append(side.block[may_pair] * len(contents.dictionary) + codes[may_pair])
    matched = match_equal(*keys, preference=predictions.preference[groups[0]])
    return tuple(side[positions] for side, positions in zip(groups, matched, strict=True))


@dataclass(frozen=True)
class _Lines:
    """Groups of one side that remain to be paired, sorted by block and content: rows or columns of matrices."""

    side: _Groups
    groups: np.ndarray
    rank: np.ndarray  # of the content, among the groups of both sides
    start: np.ndarray  # per block
    end: np.ndarray

    @property
    def count(self):
        return self.end - self.start

    def sizes(self, lines):
        """How many entities the groups on these lines have."""
        return np.diff(self.side.offsets)[self.groups[lines]]

    def places(self, blocks):
        """For every group of the side, its block's position in `blocks` and its line there, or -1."""
        block, line = (np.full(len(self.side.document), -1) for _ in range(2))
        count = self.count[blocks]
        within = np.arange(count.sum()) - np.repeat(_starts(count), count)
        groups = self.groups[np.repeat(self.start[blocks], count) + within]
        block[groups] = np.repeat(np.arange(len(blocks)), count)
        line[groups] = within
        return block, line


def _left_over(predictions, references, identical):
    """The groups of blocks that have groups left on both sides."""
    sides, left = (predictions, references), []
    for side, paired in zip(sides, identical, strict=True):
        is_left = ~side.is_ungrouped
        is_left[paired] = False
        left.append(np.flatnonzero(is_left))
    blocks = np.intersect1d(*(side.block[groups] for side, groups in zip(sides, left, strict=True)))
    left = [groups[np.isin(side.block[groups], blocks)] for side, groups in zip(sides, left, strict=True)]
    contents = [side.contents().take(pa.array(groups)) for side, groups in zip(sides, left, strict=True)]
    ranks = np.split(rank_binary(pa.chunked_array(contents).combine_chunks()), [len(left[0])])
    for side, groups, rank in zip(sides, left, ranks, strict=True):
        order = np.lexsort((side.preference[groups], rank, side.block[groups]))
        block = side.block[groups][order]
        start, end = np.searchsorted(block, blocks), np.searchsorted(block, blocks, "right")
        yield _Lines(side, groups[order], rank[order], start, end)


@dataclass(frozen=True)
class _Assignment:
    """The pairing of rows (predicted groups) and columns (reference groups) of many blocks."""

    batch: object
    identity: object
    rows: _Lines
    columns: _Lines

    def pairs(self):
        single = (self.rows.count == 1) & (self.columns.count == 1)
        chosen = [(self.rows.start[single], self.columns.start[single])]
        for blocks in self._bunches(np.flatnonzero(~single)):
            chosen += self._assign(blocks)
        rows, columns = (np.concatenate(lines) for lines in zip(*chosen, strict=True))
        return self.rows.groups[rows], self.columns.groups[columns]

    def _bunches(self, blocks):
        """Blocks in bunches whose matrices fit in memory together."""
        if len(blocks):
            cells = np.cumsum(self.rows.count[blocks] * self.columns.count[blocks])
            yield from np.split(blocks, np.flatnonzero(np.diff(cells // CELLS_AT_ONCE)) + 1)

    def _assign(self, blocks):
        """Chosen rows and columns of the blocks: clear cases all at once, the others one by one."""
        shapes = np.stack([self.rows.count[blocks], self.columns.count[blocks]], axis=1)
        places = self.rows.places(blocks), self.columns.places(blocks)
        same_entities = self._overlaps("code", shapes, places, leave_out=self.identity.fuzzy)
        same_types = self._overlaps("entity_type", shapes, places)
        if self.identity.fuzzy.any():
            is_clear = np.zeros(len(blocks), bool)
        else:
            is_clear, row, column = _clear_assignments(_weights(same_entities, same_types, shapes), shapes)
            clear = np.repeat(blocks[is_clear], shapes[is_clear, 0])
            yield self.rows.start[clear] + row, self.columns.start[clear] + column
        first_cell = _starts(shapes.prod(axis=1))
        for position in np.flatnonzero(~is_clear):
            cells = slice(first_cell[position], first_cell[position] + shapes[position].prod())
            matrices = (matrix[cells].reshape(shapes[position]) for matrix in (same_entities, same_types))
            yield self._assign_block(blocks[position], *matrices)

    def _assign_block(self, block, same_entities, same_types):
        rows = slice(self.rows.start[block], self.rows.end[block])
        columns = slice(self.columns.start[block], self.columns.end[block])
        most_pairs = min(same_types.shape)
        if self.rows.side.is_fuzzy[self.rows.groups[rows]].any():
            same_entities = same_entities + self._fuzzy_overlap(rows, columns)
            sizes = self.rows.sizes(rows)[:, None], self.columns.sizes(columns)[None, :]
            is_right = (same_entities == sizes[0]) & (same_entities == sizes[1])
            same_types = same_types * (most_pairs + 1) + is_right
        weights = same_entities * (same_types.max() * most_pairs + 1) + same_types
        # With the sides exchanged the answer must be the exchanged one, also among ties.
        if tuple(self.rows.rank[rows]) > tuple(self.columns.rank[columns]):
            column, row = linear_sum_assignment(weights.T, maximize=True)
        else:
            row, column = linear_sum_assignment(weights, maximize=True)
        return rows.start + row, columns.start + column

    def _overlaps(self, item, shapes, places, leave_out=None):
        """The matrices of all blocks in one flat array: how many items (codes or types) two groups have in
        common, as multisets."""
        (block, row, items, count), (other_block, column, other_items, other_count) = (
            _count_items(lines.side, item, *place, leave_out)
            for lines, place in zip((self.rows, self.columns), places, strict=True)
        )
        key, other_key = _join_keys(block, items, other_block, other_items)
        order = np.argsort(other_key, kind="stable")
        other_key, column, other_count = other_key[order], column[order], other_count[order]
        start = np.searchsorted(other_key, key)
        partners = np.searchsorted(other_key, key, "right") - start
        first_cell = _starts(shapes.prod(axis=1))
        cells = np.zeros(shapes.prod(axis=1).sum(), np.int64)
        cuts = np.flatnonzero(np.diff(np.cumsum(partners) // CELLS_AT_ONCE)) + 1
        for some in np.split(np.arange(len(key)), cuts):
            entry = np.repeat(some, partners[some])
            within = np.arange(len(entry)) - np.repeat(_starts(partners[some]), partners[some])
            other = start[entry] + within
            cell = first_cell[block[entry]] + row[entry] * shapes[block[entry], 1] + column[other]
            np.add.at(cells, cell, np.minimum(count[entry], other_count[other]))
        return cells

    def _fuzzy_overlap(self, rows, columns):
        """How many entities of fuzzy types two groups have in common, for all groups of a block."""
        predicted = _fuzzy_entities(self.rows.side, self.rows.groups[rows], self.identity)
        reference = _fuzzy_entities(self.columns.side, self.columns.groups[columns], self.identity)
        overlap = np.zeros((rows.stop - rows.start, columns.stop - columns.start), np.int64)
        for entity_type in sorted(predicted.keys() & reference.keys()):
            (row, values), (column, other_values) = predicted[entity_type], reference[entity_type]
            matches = match_matrix(self.batch, self.identity.comparators[entity_type], values, other_values)
            if len(set(row)) == len(row) and len(set(column)) == len(column):
                overlap[np.ix_(row, column)] += matches
                continue
            for r in np.unique(row):
                for c in np.unique(column[matches[row == r].any(axis=0)]):
                    some = matches[np.ix_(row == r, column == c)]
                    overlap[r, c] += int(some[linear_sum_assignment(some, maximize=True)].sum())
        return overlap


def _starts(sizes):
    """Where each of several parts begins that follow each other."""
    return np.cumsum(sizes) - sizes


def _weights(same_entities, same_types, shapes):
    """Most identical entities first, then most entities of the same types; all blocks in one flat array."""
    cells = shapes.prod(axis=1)
    most_types = np.maximum.reduceat(same_types, _starts(cells)) * shapes.min(axis=1)
    return same_entities * np.repeat(most_types + 1, cells) + same_types


def _clear_assignments(weights, shapes):
    """Blocks in which every row has one best column and no two rows the same: the only best assignment.

    Returns which blocks, and their rows and columns.
    """
    rows, columns = shapes.T
    columns_of_row = np.repeat(columns, rows)
    start = _starts(columns_of_row)
    is_best = weights == np.repeat(np.maximum.reduceat(weights, start), columns_of_row)
    has_one_best = np.add.reduceat(is_best, start, dtype=np.int64) == 1
    block = np.repeat(np.arange(len(shapes)), rows)
    is_clear = np.bincount(block, has_one_best, minlength=len(shapes)) == rows
    row = np.arange(len(block)) - np.repeat(_starts(rows), rows)
    best_cells = np.flatnonzero(is_best & np.repeat(is_clear[block], columns_of_row))
    row_of_cell = np.repeat(np.arange(len(block)), columns_of_row)[best_cells]
    column = best_cells - start[row_of_cell]
    taken = np.unique(block[row_of_cell] * (columns.max() + 1) + column) // (columns.max() + 1)
    is_clear &= np.bincount(taken, minlength=len(shapes)) == rows
    keep = is_clear[block[row_of_cell]]
    return is_clear, row[row_of_cell[keep]], column[keep]


def _count_items(side, item, block, line, leave_out):
    """Distinct items of each group that is in a block: block, line, item, how often."""
    is_in_block = block[side.entity_group] >= 0
    if leave_out is not None:
        is_in_block &= ~leave_out[side.entity_type]
    group, items = side.entity_group[is_in_block], getattr(side, item)[is_in_block]
    is_first = np.ones(len(group), bool)
    is_first[1:] = (group[1:] != group[:-1]) | (items[1:] != items[:-1])
    first = np.flatnonzero(is_first)
    group = group[first]
    return block[group], line[group], items[first], np.diff(np.append(first, len(items)))


def _join_keys(block, items, other_block, other_items):
    """Keys of both sides that are equal where block and item are."""
    distinct, code = np.unique(np.concatenate([items, other_items]), return_inverse=True)
    keys = np.concatenate([block, other_block]) * len(distinct) + code
    return np.split(keys, [len(items)])


def _fuzzy_entities(side, groups, identity):
    """Fuzzy entity type -> the lines of its entities in the block, and their value codes."""
    found = {}
    for line, group in enumerate(groups):
        entities = slice(side.offsets[group], side.offsets[group + 1])
        for entity_type, value in zip(side.entity_type[entities], side.value[entities], strict=True):
            if identity.fuzzy[entity_type]:
                lines, values = found.setdefault(int(entity_type), ([], []))
                lines.append(line)
                values.append(value)
    return {entity_type: tuple(map(np.array, columns)) for entity_type, columns in found.items()}
