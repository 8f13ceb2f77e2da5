"""Reference and predicted entities that share a document and a category, and what a pair of them costs.

An entity costs 1 against nothing and against any entity of another category, so that the assignment of a
document falls apart into one problem for each category: a block, with a row for each reference entity and a
column for each predicted one. The costs of all blocks stand in one flat array, block after block, row after row.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .matching import match_matrix
from .spelling import distance_matrix, spell_characters, spell_words

# From this many pairs on, one call for the block is faster than one call for the pairs of many blocks.
CELLS_OF_LARGE_BLOCK = 50


@dataclass(frozen=True)
class Lines:
    """The rows or the columns of blocks: positions of entities, sorted by block; the paired ones come first."""

    entity: np.ndarray
    start: np.ndarray  # per block
    count: np.ndarray


@dataclass(frozen=True)
class Blocks:
    """The blocks of a batch that have entities on both sides, sorted by document and category.

    Of each block some rows are paired with as many columns of the same text: nothing is nearer to them.
    """

    key: np.ndarray  # document * number of categories + category
    rows: Lines
    columns: Lines
    paired: np.ndarray

    @cached_property
    def cells(self):
        return self.rows.count * self.columns.count

    @cached_property
    def first_cell(self):
        return np.concatenate([[0], np.cumsum(self.cells)])

    @cached_property
    def cells_of_row(self):
        return np.repeat(self.columns.count, self.rows.count)

    @property
    def fewer(self):
        return np.minimum(self.rows.count, self.columns.count)

    def select(self, blocks):
        lines = (Lines(side.entity, side.start[blocks], side.count[blocks]) for side in (self.rows, self.columns))
        return Blocks(self.key[blocks], *lines, self.paired[blocks])

    def with_paired_rows(self):
        return self._with_rows(self.rows.start, self.paired)

    def with_open_rows(self):
        return self._with_rows(self.rows.start + self.paired, self.rows.count - self.paired)

    def _with_rows(self, start, count):
        return Blocks(self.key, Lines(self.rows.entity, start, count), self.columns, self.paired)

    def locate(self, cells=None):
        """The block of each cell, and the positions of its entities in the rows' and the columns' lines."""
        first = self.first_cell
        if cells is None:
            block = np.repeat(np.arange(len(self.key)), self.cells)
            within = np.arange(first[-1]) - first[block]
        else:
            block = np.searchsorted(first, cells, "right") - 1
            within = cells - first[block]
        row, column = np.divmod(within, self.columns.count[block])
        return block, self.rows.start[block] + row, self.columns.start[block] + column


def block_keys(batch):
    """For each side, the document and category of every entity as one number."""
    types = max(len(batch.entity_types), 1)
    return [side.entity_document * types + side.entity_type for side in batch.sides]


def find_blocks(batch, identity):
    in_document = max(len(batch.entity_types), 1) * identity.width
    predicted, expected = (
        _SortedSide(side.entity_document * in_document + code, identity, side.entity_value)
        for side, code in zip(batch.sides, identity.codes, strict=True)
    )
    keys = np.intersect1d(predicted.key, expected.key)
    rows, paired = expected.lines(keys, predicted)
    columns, _ = predicted.lines(keys, expected)
    return Blocks(keys, rows, columns, paired)


class _SortedSide:
    """The entities of one side, sorted by block and by what they are, so that nothing depends on their order."""

    def __init__(self, code, identity, value):
        self.order = np.argsort(code) if identity.is_exact else np.lexsort((value, code))
        self.code = code[self.order]
        self.key = self.code // identity.width

    def lines(self, keys, other):
        """The lines of the blocks with these keys, and how many of each are paired with the other side's."""
        rank = np.arange(len(self.code)) - _run_starts(self.code)
        partners = np.searchsorted(other.code, self.code, "right") - np.searchsorted(other.code, self.code)
        is_paired = rank < partners
        paired_before = np.concatenate([[0], np.cumsum(is_paired)])
        start, end = np.searchsorted(self.key, keys), np.searchsorted(self.key, keys, "right")
        entity = self.order[np.argsort(self.key * 2 + ~is_paired, kind="stable")]
        return Lines(entity, start, end - start), paired_before[end] - paired_before[start]


def _run_starts(ordered):
    """For every item the position at which its run of equal items begins.

    >>> _run_starts(np.array([3, 3, 5])).tolist()
    [0, 0, 2]
    """
    starts = np.arange(len(ordered))
    starts[1:][ordered[1:] == ordered[:-1]] = 0
    return np.maximum.accumulate(starts)


class Costs:
    """Character and word error rates, at most 1, of all pairs in the blocks of a batch."""

    def __init__(self, batch, blocks, identity):
        predictions, references = batch.sides
        self.batch = batch
        self.expected = references.entity_value[blocks.rows.entity]  # value codes, line by line
        self.found = predictions.entity_value[blocks.columns.entity]
        self.characters = self._letters(spell_characters(batch.values))
        self.words = self._letters(spell_words(batch.values))
        self.identity = identity

    def _letters(self, spelling):
        """A spelling, and with it the letters of every row and every column."""
        return spelling, spelling.letters[self.expected].tolist(), spelling.letters[self.found].tolist()

    def error_rates(self, blocks, letters):
        """The cost of every cell; `letters` are those of characters or of words."""
        spelling, *_ = letters
        distances = np.empty(blocks.first_cell[-1], np.int32)
        is_large = blocks.cells >= CELLS_OF_LARGE_BLOCK
        self._edit_small_blocks(blocks, is_large, distances, spelling)
        for block in np.flatnonzero(is_large).tolist():
            self._edit_large_block(blocks, block, distances, letters)
        row = positions(blocks.rows.start, blocks.rows.count)
        length = np.repeat(spelling.length[self.expected[row]], blocks.cells_of_row)
        rates = distances / np.maximum(length, 1)
        if not self.identity.is_exact:
            self._forgive(blocks, rates)
        return np.minimum(rates, 1, out=rates)

    def _edit_small_blocks(self, blocks, is_large, distances, spelling):
        cells = np.flatnonzero(np.repeat(~is_large, blocks.cells)) if is_large.any() else None
        _, row, column = blocks.locate(cells)
        expected, found = self.expected[row], self.found[column]
        length = spelling.length[expected]
        # A text twice as long, or with nothing in common, takes as many edits as the reference has letters, or more.
        is_near = (spelling.mask[expected] & spelling.mask[found]) != 0
        is_near &= spelling.length[found] < 2 * length
        differ = expected != found
        near = np.flatnonzero(is_near & differ)
        edits = length * differ
        edits[near] = spelling.distances_of_pairs(expected[near], found[near])
        distances[slice(None) if cells is None else cells] = edits

    def _edit_large_block(self, blocks, block, distances, letters):
        _, expected, found = letters
        rows, columns, first = blocks.rows, blocks.columns, blocks.first_cell
        matrix = distance_matrix(
            expected[rows.start[block] : rows.start[block] + rows.count[block]],
            found[columns.start[block] : columns.start[block] + columns.count[block]],
        )
        distances[first[block] : first[block + 1]] = matrix.ravel()

    def _forgive(self, blocks, rates):
        """Entities that are the same under the schema have no error."""
        identity, rows, columns = self.identity, blocks.rows, blocks.columns
        _, row, column = blocks.locate()
        rates[identity.references[rows.entity[row]] == identity.predictions[columns.entity[column]]] = 0
        categories = blocks.key % max(len(self.batch.entity_types), 1)
        for block in np.flatnonzero(identity.fuzzy[categories]).tolist():
            expected = self.expected[rows.start[block] : rows.start[block] + rows.count[block]]
            found = self.found[columns.start[block] : columns.start[block] + columns.count[block]]
            matches = match_matrix(self.batch, identity.comparators[categories[block]], found, expected).T
            first = blocks.first_cell[block]
            rates[first : first + matches.size][matches.ravel()] = 0


def positions(start, count):
    """All positions of ranges, one after the other.

    >>> positions(np.array([5, 0]), np.array([2, 1])).tolist()
    [5, 6, 0]
    """
    before = np.cumsum(count) - count
    return np.repeat(start - before, count) + np.arange(count.sum())
