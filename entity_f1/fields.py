"""The fields of documents, how each is scored, and what is counted.

A field is an entity type. Its value in a document is the list of its items in reading order: one entity is one
item, or several where its text holds the separator. An absent item keeps its place in the list, and is no item.
A *cell* is one field of one document.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .columns import UNGROUPED, Batch, Side, encode_jointly
from .counts import family
from .matching import identify, match_entities
from .rows import RowSide, match_rows
from .value_pairs import ValuePairs

PERFECT = 0.99
ROUNDING = 1e-9


@dataclass(frozen=True)
class Items:
    """The items of one side, with their place: cell and position in the cell's list."""

    side: Side  # an entity for each item; its value is what is compared
    shown: np.ndarray  # the value as it was written
    cell: np.ndarray
    position: np.ndarray
    length: np.ndarray  # per cell of the batch: the positions of its list, absent items included


class Fields:
    """All fields of a batch of documents, matched and scored under a strategy."""

    def __init__(self, batch, options):
        self.options = options
        self.types = max(len(batch.entity_types), 1)
        texts, sides = _split_into_items(batch, options)
        self.predictions, self.references = (_place(side, batch.documents, self.types) for side in sides)
        plain = Batch(
            batch.documents,
            self.predictions.side,
            self.references.side,
            batch.group_types,
            batch.entity_types,
            texts,
        )
        self.kinds = _DocumentKinds(plain, options.schema)
        self.batch = self.kinds.with_canonical_names(plain)
        comparators = [options.schema.comparator(name) for name in batch.entity_types]
        self.pairs_of_values = ValuePairs(self.batch.values, comparators)
        self._find_cells()
        self.matched = self._match()
        self._score()

    @property
    def items(self):
        return self.predictions, self.references

    def _find_cells(self):
        cells = np.unique(np.concatenate([items.cell for items in self.items]))
        self.cells, self.document, self.field = cells, cells // self.types, cells % self.types
        self.predicted, self.reference = (
            np.bincount(np.searchsorted(cells, items.cell), minlength=len(cells)) for items in self.items
        )
        self.row_set = self.kinds.row_set[self.kinds.of_document[self.document], self.field]
        longest = np.maximum(*(items.length[cells] for items in self.items))
        self.is_scalar = (longest <= 1) & (self.row_set < 0)
        self.is_evaluated = self.kinds.is_evaluated[self.kinds.of_document[self.document], self.field]

    # Matching: positions of predicted and reference items that are the same

    def _match(self):
        match = {
            "position": self._match_positions,
            "any_order": self._match_any_order,
            "correction": self._match_any_order,
            "rows": self._match_rows,
        }
        return match[self.options.strategy]()

    def _match_positions(self):
        pairs = self._pairs_of_positions()
        return _select(pairs, self.pairs_of_values.match(*self._values_of(pairs)))

    def _pairs_of_positions(self):
        """Items that stand at the same position of the same field."""
        width = max(items.position.max(initial=0) for items in self.items) + 1
        keys = [items.cell * width + items.position for items in self.items]
        return np.intersect1d(*keys, assume_unique=True, return_indices=True)[1:]

    def _values_of(self, pairs):
        predictions, references = self.batch.sides
        prediction, reference = pairs
        return (
            predictions.entity_type[prediction],
            predictions.entity_value[prediction],
            references.entity_value[reference],
        )

    def _match_any_order(self):
        """The most pairs that match. Where all match in their order there is nothing left to try."""
        in_order = self._match_positions()
        matches = self._count_by_cell(in_order)
        is_open = (matches < np.minimum(self.predicted, self.reference)) & ~self.is_scalar
        left = [np.flatnonzero(is_open[np.searchsorted(self.cells, items.cell)]) for items in self.items]
        done = ~is_open[np.searchsorted(self.cells, self.predictions.cell[in_order[0]])]
        batch = self.batch.with_sides(
            *(side.select_entities(positions) for side, positions in zip(self.batch.sides, left, strict=True))
        )
        found = match_entities(
            batch,
            identify(batch, self.options.schema),
            *(items.cell[positions] for items, positions in zip(self.items, left, strict=True)),
        )
        return tuple(
            np.concatenate([some[done], positions[others]])
            for some, positions, others in zip(in_order, left, found, strict=True)
        )

    def _match_rows(self):
        """Items of rows that are the same in every field."""
        identity = identify(self.batch, self.options.schema)
        rows = [self._rows(items, side) for items, side in zip(self.items, self.batch.sides, strict=True)]
        matched = match_rows(self.batch, identity, *rows)
        pairs = [np.full(len(side.block), -1) for side in rows]
        for pair, positions in zip(pairs, matched, strict=True):
            pair[positions] = np.arange(len(positions))
        pairs = [pair[side.entity_row] for pair, side in zip(pairs, rows, strict=True)]
        inside = [np.flatnonzero(pair >= 0) for pair in pairs]
        batch = self.batch.with_sides(
            *(side.select_entities(positions) for side, positions in zip(self.batch.sides, inside, strict=True))
        )
        found = match_entities(
            batch,
            identify(batch, self.options.schema),
            *(pair[positions] for pair, positions in zip(pairs, inside, strict=True)),
        )
        return tuple(positions[some] for positions, some in zip(inside, found, strict=True))

    def _rows(self, items, side):
        """A group is a row; so are the items at one position of the schema's aligned fields, and any other item.

        Fields that are not evaluated belong to no row: they must not decide whether one is right.
        """
        cell = np.searchsorted(self.cells, items.cell)
        row_set, is_evaluated = self.row_set[cell], self.is_evaluated[cell]
        document, item = side.entity_document, np.arange(len(items.cell))
        sets, positions = row_set.max(initial=0) + 1, items.position.max(initial=0) + 1
        aligned = (document * sets + row_set) * positions + items.position
        kind = np.select([~is_evaluated, self._is_grouped(side), row_set >= 0], [2, 0, 1], 2)
        number = np.select([kind == 0, kind == 1], [side.entity_group, aligned], item)
        order = np.lexsort((number, kind))
        is_first = np.ones(len(order), bool)
        is_first[1:] = (np.diff(number[order]) != 0) | (np.diff(kind[order]) != 0)
        row = np.empty(len(order), np.int64)
        row[order] = np.cumsum(is_first) - 1
        return RowSide(document[order[is_first]], row)

    def _is_grouped(self, side):
        named = np.array([name != UNGROUPED for name in self.batch.group_types], bool)
        return named[side.group_type][side.entity_group]

    # Scores

    def _count_by_cell(self, pairs):
        return np.bincount(np.searchsorted(self.cells, self.predictions.cell[pairs[0]]), minlength=len(self.cells))

    def _score(self):
        matches = self.matches = self._count_by_cell(self.matched)
        if self.options.strategy == "correction":
            # TP / (TP + corrections), corrections being the larger of what is wrong and what is missing
            self.score = matches / np.maximum(self.predicted, self.reference)
        else:
            self.score = 2 * matches / (self.predicted + self.reference)
        both = np.flatnonzero(self.is_scalar & (self.predicted > 0) & (self.reference > 0))
        pairs = [np.flatnonzero(np.isin(items.cell, self.cells[both])) for items in self.items]
        pairs = [some[np.argsort(items.cell[some])] for some, items in zip(pairs, self.items, strict=True)]
        credit = self.pairs_of_values.similarity(*self._values_of(pairs))
        if self.options.strategy == "rows":
            in_group = [self._is_grouped(side)[some] for side, some in zip(self.batch.sides, pairs, strict=True)]
            credit = np.where(in_group[0] | in_group[1], credit * matches[both], credit)
        self.score[both] = credit

    def counts(self):
        evaluated, documents = self.is_evaluated, self.batch.documents
        document, score = self.document[evaluated], self.score[evaluated]
        fields = np.bincount(document, minlength=documents)
        total = np.bincount(document, score, minlength=documents)
        accuracy = np.divide(total, fields, out=np.ones(documents), where=fields > 0)
        counts = {
            "score": score,
            "evaluated": np.ones(len(score), np.int64),
            "correct": (score > self.options.match_threshold).astype(np.int64),
            "true_positives": self.matches[evaluated],
            "predicted": self.predicted[evaluated],
            "reference": self.reference[evaluated],
            "expected": (self.reference[evaluated] > 0).astype(np.int64),
            "covered": ((self.reference[evaluated] > 0) & (self.predicted[evaluated] > 0)).astype(np.int64),
        }
        return {
            "accuracy": accuracy,
            "perfect_documents": (accuracy >= PERFECT - ROUNDING).astype(np.int64),
            "fields": family(documents, document, self.field[evaluated], self.batch.entity_types, counts),
        }


def _select(pairs, keep):
    return tuple(positions[keep] for positions in pairs)


# From entities to items


def _split_into_items(batch, options):
    """The distinct items of both sides, and each side with an entity for every item."""
    values = batch.values
    parts = pc.split_pattern(values, options.separator) if options.separator else None
    lengths = np.ones(len(values), np.int64) if parts is None else pc.list_value_length(parts).to_numpy()
    written = values if parts is None else parts.flatten()
    is_part = pa.array(np.repeat(lengths > 1, lengths))
    written = pc.if_else(is_part, pc.utf8_trim_whitespace(written), written)
    names = pa.array([kind.name for kind in options.schema.document_types], pa.string())
    texts, (codes, _) = encode_jointly([written, names])
    trimmed = pc.utf8_trim_whitespace(texts)
    is_absent = pc.equal(trimmed, "")
    if options.absent is not None:
        is_absent = pc.or_(is_absent, pc.equal(trimmed, options.absent.strip()))
    is_absent = is_absent.to_numpy(zero_copy_only=False)
    first = np.cumsum(lengths) - lengths
    return texts, [_items_of(side, lengths, first, codes, is_absent) for side in batch.sides]


def _items_of(side, lengths, first, codes, is_absent):
    """An entity for every item, and which of them are absent."""
    number = lengths[side.entity_value]
    entity = np.repeat(np.arange(len(number)), number)
    within = np.arange(len(entity)) - np.repeat(np.cumsum(number) - number, number)
    code = codes[first[side.entity_value[entity]] + within]
    items = Side(
        is_invalid=side.is_invalid,
        group_document=side.group_document,
        group_type=side.group_type,
        entity_group=side.entity_group[entity],
        entity_type=side.entity_type[entity],
        entity_value=code,
        confidence=side.confidence[entity],
    )
    return items, is_absent[code]


def _place(items_and_absent, documents, types):
    """Positions in reading order; then absent items are left out."""
    items, is_absent = items_and_absent
    cell = items.entity_document * types + items.entity_type
    order = np.argsort(cell, kind="stable")
    length = np.bincount(cell, minlength=documents * types)
    start = np.cumsum(length) - length
    position = np.empty(len(cell), np.int64)
    position[order] = np.arange(len(cell)) - start[cell[order]]
    keep = ~is_absent
    side = items.select_entities(keep)
    return Items(side, side.entity_value, cell[keep], position[keep], length)


class _DocumentKinds:
    """What the schema says about the type of each reference document. The last line is for unknown types."""

    def __init__(self, batch, schema):
        self.schema = schema
        self.type_code = self._code(batch.entity_types, schema.document_type_field)
        self.of_document = np.full(batch.documents, len(schema.document_types))
        if self.type_code is not None:
            self._name_documents(batch)
        names = batch.entity_types
        kinds = [*schema.document_types, None]
        self.row_set = np.array([[_row_set(schema.aligned_rows(kind), name) for name in names] for kind in kinds])
        self.row_set = self.row_set.reshape(len(kinds), len(names))
        self.is_evaluated = np.array([[self._evaluates(kind, name) for name in names] for kind in kinds], bool)
        self.is_evaluated = self.is_evaluated.reshape(len(kinds), len(names))

    @staticmethod
    def _code(names, name):
        return names.index(name) if name in names else None

    def _name_documents(self, batch):
        """The first value of the field that names the type."""
        side = batch.references
        named = np.flatnonzero(side.entity_type == self.type_code)
        document, first = np.unique(side.entity_document[named], return_index=True)
        value, inverse = np.unique(side.entity_value[named[first]], return_inverse=True)
        found = [self.schema.document_type(text) for text in batch.values.take(pa.array(value)).to_pylist()]
        kinds = [len(self.schema.document_types) if k is None else self.schema.document_types.index(k) for k in found]
        self.of_document[document] = np.array(kinds, np.int64)[inverse]

    def _evaluates(self, kind, name):
        if kind is not None:
            return name in kind.fields
        types = self.schema.document_types
        is_field = any(name in known.fields for known in types)
        return is_field or not any(name in known.validation_only for known in types)

    def with_canonical_names(self, batch):
        """The batch in which all names of a document type are its first: "tax invoice" is an invoice."""
        if self.type_code is None:
            return batch
        code_of = {text: code for code, text in enumerate(batch.values.to_pylist())}
        return batch.with_sides(*(self._with_canonical_names(side, batch, code_of) for side in batch.sides))

    def _with_canonical_names(self, side, batch, code_of):
        named = np.flatnonzero(side.entity_type == self.type_code)
        value, inverse = np.unique(side.entity_value[named], return_inverse=True)
        kinds = [self.schema.document_type(batch.values[int(code)].as_py()) for code in value]
        canonical = [code if kind is None else code_of[kind.name] for code, kind in zip(value, kinds, strict=True)]
        values = side.entity_value.copy()
        values[named] = np.array(canonical, np.int64)[inverse]
        return Side(**{**side.__dict__, "entity_value": values})


def _row_set(rows, name):
    return next((number for number, names in enumerate(rows) if name in names), -1)
