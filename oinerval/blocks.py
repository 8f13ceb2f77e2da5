"""Reference and predicted entities that share a document and a category, and what a pair of them costs.

An entity costs 1 against nothing and against any entity of another category, so that the assignment of a
document falls apart into one problem for each category: a block, with a row for each reference entity and a
column for each predicted one. The costs of all blocks stand in one flat array, block after block, row after row.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .matching import identify, match_matrix
from .spelling import spell_characters, spell_words

# From this many pairs on, one call for the block is faster than one call for the pairs of many blocks.
CELLS_OF_LARGE_BLOCK = 100


@dataclass(frozen=True)
class Lines:
    """The rows or the columns of blocks: positions of entities, sorted by block and by value."""

    entity: np.ndarray
    start: np.ndarray  # per block
    count: np.ndarray


@dataclass(frozen=True)
class Blocks:
    """The blocks of a batch that have entities on both sides, sorted by document and category."""

    key: np.ndarray  # document * number of categories + category
    rows: Lines
    columns: Lines

    @cached_property
    def cells(self):
        return self.rows.count * self.columns.count

    @cached_property
    def first_cell(self):
        return np.concatenate([[0], np.cumsum(self.cells)])

    def select(self, blocks):
        lines = (Lines(side.entity, side.start[blocks], side.count[blocks]) for side in (self.rows, self.columns))
        return Blocks(self.key[blocks], *lines)

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


def find_blocks(batch):
    predictions, references = batch.sides
    predicted_keys, reference_keys = block_keys(batch)
    keys = np.intersect1d(predicted_keys, reference_keys)
    return Blocks(keys, _lines(references, reference_keys, keys), _lines(predictions, predicted_keys, keys))


def _lines(side, key_of_entity, keys):
    # Sorted by value, so that nothing depends on the order of the entities.
    entity = np.lexsort((side.entity_value, key_of_entity))
    ordered = key_of_entity[entity]
    start = np.searchsorted(ordered, keys)
    return Lines(entity, start, np.searchsorted(ordered, keys, "right") - start)


class Costs:
    """Character and word error rates, at most 1, of all pairs in the blocks of a batch."""

    def __init__(self, batch, schema):
        self.batch = batch
        self.characters = spell_characters(batch.values)
        self.words = spell_words(batch.values)
        self.identity = identify(batch, schema)
        self.is_exact = all(comparator.name == "exact" for comparator in self.identity.comparators)

    def error_rates(self, blocks, spelling):
        """The cost of every cell; `spelling` tells whether characters or words are edited."""
        rates = np.empty(blocks.first_cell[-1])
        is_large = blocks.cells >= CELLS_OF_LARGE_BLOCK
        if is_large.any():
            small = np.flatnonzero(np.repeat(~is_large, blocks.cells))
            rates[small] = self._rates_of_pairs(blocks, small, spelling)
            for block in np.flatnonzero(is_large).tolist():
                self._fill_large(blocks, block, rates, spelling)
        else:
            rates = self._rates_of_pairs(blocks, None, spelling)
        if not self.is_exact:
            self._forgive(blocks, rates)
        return np.minimum(rates, 1, out=rates)

    def _rates_of_pairs(self, blocks, cells, spelling):
        _, row, column = blocks.locate(cells)
        predictions, references = self.batch.sides
        expected = references.entity_value[blocks.rows.entity[row]]
        found = predictions.entity_value[blocks.columns.entity[column]]
        rates = np.not_equal(expected, found).astype(float)
        # A text twice as long, or with nothing in common, takes as many edits as the reference has letters.
        is_near = (spelling.mask[expected] & spelling.mask[found]) != 0
        is_near &= spelling.length[found] < 2 * spelling.length[expected]
        near = np.flatnonzero(is_near & (rates > 0))
        rates[near] = spelling.rates_of_pairs(expected[near], found[near])
        return rates

    def _fill_large(self, blocks, block, rates, spelling):
        expected, found = self._values(blocks, block)
        first = blocks.first_cell[block]
        cells = rates[first : first + len(expected) * len(found)].reshape(len(expected), len(found))
        spelling.fill_rates(expected, found, cells)

    def _values(self, blocks, block):
        """Value codes of the rows and of the columns of a block."""
        predictions, references = self.batch.sides
        return [
            side.entity_value[lines.entity[lines.start[block] : lines.start[block] + lines.count[block]]]
            for side, lines in ((references, blocks.rows), (predictions, blocks.columns))
        ]

    def _forgive(self, blocks, rates):
        """Entities that are the same under the schema have no error."""
        identity = self.identity
        _, row, column = blocks.locate()
        same = identity.references[blocks.rows.entity[row]] == identity.predictions[blocks.columns.entity[column]]
        rates[same] = 0
        categories = blocks.key % max(len(self.batch.entity_types), 1)
        for block in np.flatnonzero(identity.fuzzy[categories]).tolist():
            expected, found = self._values(blocks, block)
            matches = match_matrix(self.batch, identity.comparators[categories[block]], found, expected).T
            first = blocks.first_cell[block]
            rates[first : first + matches.size][matches.ravel()] = 0
