"""Nested groups in Arrow -> integer columns that both sides share.

Types and values become codes into common dictionaries, so that counting is integer work. The codes
follow the order of the texts: sorting by code is sorting by content, whatever the order of the input.
"""

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

UNTAGGED = ""
UNGROUPED = ""


@dataclass(frozen=True)
class Side:
    """The predictions or the references of a batch of documents, one array per property."""

    is_invalid: np.ndarray  # per document
    group_document: np.ndarray  # per group
    group_type: np.ndarray
    entity_group: np.ndarray  # per entity
    entity_type: np.ndarray
    entity_value: np.ndarray
    confidence: np.ndarray  # not a number where there is none

    @property
    def entity_document(self):
        return self.group_document[self.entity_group]

    @property
    def group_size(self):
        return np.bincount(self.entity_group, minlength=len(self.group_document))

    def select_entities(self, keep):
        columns = ("entity_group", "entity_type", "entity_value", "confidence")
        return self._replace(**{name: getattr(self, name)[keep] for name in columns})

    def select_groups(self, keep):
        """Only these groups; none of the others may have entities."""
        position = np.cumsum(keep) - 1
        return self._replace(
            group_document=self.group_document[keep],
            group_type=self.group_type[keep],
            entity_group=position[self.entity_group],
        )

    def _replace(self, **columns):
        return Side(**{**self.__dict__, **columns})


@dataclass(frozen=True)
class Batch:
    """Documents of both sides, and the texts that their codes stand for."""

    documents: int
    predictions: Side
    references: Side
    group_types: list
    entity_types: list
    values: pa.Array

    @property
    def sides(self):
        return self.predictions, self.references

    def with_sides(self, predictions, references):
        return Batch(self.documents, predictions, references, self.group_types, self.entity_types, self.values)


def encode(predictions, references):
    """The batch of two Arrow arrays of documents; a null document is an invalid, empty one."""
    flat = [_flatten(documents) for documents in (predictions, references)]
    group_types, group_type_codes = encode_jointly([side["group_type"] for side in flat])
    entity_types, entity_type_codes = encode_jointly([side["entity_type"] for side in flat])
    values, value_codes = encode_jointly([side["value"] for side in flat])
    sides = [
        Side(
            is_invalid=side["is_invalid"],
            group_document=side["group_document"],
            group_type=group_type,
            entity_group=side["entity_group"],
            entity_type=entity_type,
            entity_value=value,
            confidence=side["confidence"],
        )
        for side, group_type, entity_type, value in zip(
            flat, group_type_codes, entity_type_codes, value_codes, strict=True
        )
    ]
    return Batch(len(predictions), *sides, group_types.to_pylist(), entity_types.to_pylist(), values)


def without_untagged_text(batch):
    """The batch without the text between entities, which entity metrics do not judge."""
    if UNTAGGED not in batch.entity_types:
        return batch
    code = batch.entity_types.index(UNTAGGED)
    return batch.with_sides(*(side.select_entities(side.entity_type != code) for side in batch.sides))


def without_empty_groups(batch):
    return batch.with_sides(*(side.select_groups(side.group_size > 0) for side in batch.sides))


def _flatten(documents):
    groups = documents.flatten()
    lists = pc.struct_field(groups, "entities")
    entities = lists.flatten()
    return {
        "is_invalid": documents.is_null().to_numpy(zero_copy_only=False),
        "group_document": _parents(documents),
        "group_type": pc.struct_field(groups, "type"),
        "entity_group": _parents(lists),
        "entity_type": pc.struct_field(entities, "type"),
        "value": pc.struct_field(entities, "value"),
        "confidence": pc.struct_field(entities, "confidence").to_numpy(zero_copy_only=False),
    }


def _parents(lists):
    """For every item of the lists, the position of the list it is in."""
    return pc.list_parent_indices(lists).to_numpy().astype(np.int64)


def encode_jointly(columns):
    """The sorted distinct texts of several columns, and each column as codes into them."""
    encoded = pa.chunked_array(columns, pa.string()).combine_chunks().dictionary_encode()
    if isinstance(encoded, pa.ChunkedArray):
        encoded = encoded.combine_chunks()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    codes = _inverse(order)[encoded.indices.to_numpy()]
    return encoded.dictionary.take(pa.array(order)), np.split(
        codes, np.cumsum([len(column) for column in columns[:-1]])
    )


def rows_as_binary(numbers, offsets):
    """A binary value per row of numbers; where none is negative, it sorts as the numbers do."""
    data = pa.py_buffer(numbers.astype(">i8").tobytes())
    starts = pa.py_buffer((offsets * 8).astype(np.int64).tobytes())
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, [None, starts, data])


def rank_binary(values):
    """Dense ranks of binary values."""
    encoded = values.dictionary_encode()
    order = pc.sort_indices(encoded.dictionary).to_numpy()
    return _inverse(order)[encoded.indices.to_numpy()]


def rank_rows(numbers, offsets):
    """Dense ranks of rows of numbers, each row being `numbers[offsets[i]:offsets[i + 1]]`."""
    return rank_binary(rows_as_binary(numbers, offsets))


def _inverse(order):
    position = np.empty(len(order), np.int64)
    position[order] = np.arange(len(order))
    return position
