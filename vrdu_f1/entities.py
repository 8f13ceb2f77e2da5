"""What VRDU counts: unrepeated entities, repeated ones, and hierarchical ones (groups), each in its own way."""

import numpy as np

from .columns import UNGROUPED, Batch, Side
from .counts import family
from .documents import number_groups, owners_of_components
from .matching import identify, match_entities
from .rows import RowSide, match_rows
from .value_pairs import ValuePairs


class Entities:
    """The entities of a batch of documents, matched. Pairs are positions of predictions and of references."""

    def __init__(self, batch, options):
        self.batch = group_components(batch, options.groups or {})
        self.types = max(len(self.batch.entity_types), 1)
        self.identity = identify(self.batch, options.schema)
        is_repeated = np.array([name in (options.repeated or ()) for name in self.batch.entity_types], bool)
        named = np.array([name != UNGROUPED for name in self.batch.group_types], bool)
        self.in_group = [named[side.group_type][side.entity_group] for side in self.batch.sides]
        repeated = [is_repeated[side.entity_type] for side in self.batch.sides]
        self.repeated = [np.flatnonzero(~inside & mask) for inside, mask in zip(self.in_group, repeated, strict=True)]
        self.unrepeated = [
            np.flatnonzero(~inside & ~mask) for inside, mask in zip(self.in_group, repeated, strict=True)
        ]
        self.kept = self._keep_one_prediction()
        self.unrepeated_pairs = self._match_unrepeated()
        self.repeated_pairs = self._match_repeated()
        self.group_pairs = self._match_groups()

    def cell(self, side, positions):
        """Document and name of entities, as one number."""
        return side.entity_document[positions] * self.types + side.entity_type[positions]

    def _keep_one_prediction(self):
        """Of the predictions of an unrepeated name the most confident, else the first."""
        side, positions = self.batch.predictions, self.unrepeated[0]
        cell, confidence = self.cell(side, positions), np.nan_to_num(side.confidence[positions], nan=-1.0)
        order = np.lexsort((positions, -confidence, cell))
        return positions[order[np.unique(cell[order], return_index=True)[1]]]

    def _match_unrepeated(self):
        """The kept prediction and the first of the reference's values that it matches."""
        predictions, references = self.batch.sides
        kept, expected = self.kept, self.unrepeated[1]
        cells, cell = self.cell(predictions, kept), self.cell(references, expected)
        if not len(kept) or not len(expected):
            return kept[:0], expected[:0]
        candidate = np.minimum(np.searchsorted(cells, cell), len(cells) - 1)
        has_partner = cells[candidate] == cell
        prediction, expected, cell = kept[candidate[has_partner]], expected[has_partner], cell[has_partner]
        pairs = ValuePairs(self.batch.values, self.identity.comparators)
        values = predictions.entity_value[prediction], references.entity_value[expected]
        same = pairs.match(predictions.entity_type[prediction], *values)
        _, first = np.unique(cell[same], return_index=True)
        return prediction[same][first], expected[same][first]

    def _match_repeated(self):
        batch = self.batch.with_sides(
            *(side.select_entities(some) for side, some in zip(self.batch.sides, self.repeated, strict=True))
        )
        found = match_entities(batch, self._select(self.repeated), *(side.entity_document for side in batch.sides))
        return tuple(positions[some] for positions, some in zip(self.repeated, found, strict=True))

    def _match_groups(self):
        """Groups of one type that have the same components, each of which matches."""
        inside = [np.flatnonzero(mask) for mask in self.in_group]
        batch = self.batch.with_sides(
            *(side.select_entities(some) for side, some in zip(self.batch.sides, inside, strict=True))
        )
        types = max(len(batch.group_types), 1)
        groups, rows = [], []
        for side in batch.sides:
            group, row = np.unique(side.entity_group, return_inverse=True)
            groups.append(group)
            rows.append(RowSide(side.group_document[group] * types + side.group_type[group], row))
        found = match_rows(batch, self._select(inside), *rows)
        return tuple(group[positions] for group, positions in zip(groups, found, strict=True))

    def _select(self, positions):
        """The identity of some of the entities."""
        codes = (code[some] for code, some in zip(self.identity.codes, positions, strict=True))
        identity = self.identity
        return type(identity)(*codes, identity.width, identity.comparators, identity.fuzzy)

    # Counts

    def counts(self):
        documents = self.batch.documents
        once = [self.kept, self._first_references()]
        unrepeated = self._count(once, self.unrepeated_pairs[0])
        repeated = self._count(self.repeated, self.repeated_pairs[0])
        entities = {name: np.concatenate([unrepeated[name], repeated[name]]) for name in unrepeated}
        cell = entities.pop("cell")
        document = unrepeated["cell"] // self.types
        pooled = {
            f"unrepeated_{name}": np.bincount(document, unrepeated[name], documents).astype(np.int64)
            for name in ("true_positives", "predicted", "reference")
        }
        groups = self._count_groups()
        types = max(len(self.batch.group_types), 1)
        group_cell = groups.pop("cell")
        return {
            **pooled,
            "entities": family(documents, cell // self.types, cell % self.types, self.batch.entity_types, entities),
            "groups": family(documents, group_cell // types, group_cell % types, self.batch.group_types, groups),
        }

    def _first_references(self):
        positions = self.unrepeated[1]
        return positions[np.unique(self.cell(self.batch.references, positions), return_index=True)[1]]

    def _count(self, positions, matched):
        keys = [self.cell(side, some) for side, some in zip(self.batch.sides, positions, strict=True)]
        return _count_keys(*keys, self.cell(self.batch.predictions, matched))

    def _count_groups(self):
        types = max(len(self.batch.group_types), 1)
        keys = []
        for side in self.batch.sides:
            named = np.array([name != UNGROUPED for name in self.batch.group_types], bool)[side.group_type]
            keys.append((side.group_document * types + side.group_type)[named])
        side, matched = self.batch.predictions, self.group_pairs[0]
        return _count_keys(*keys, side.group_document[matched] * types + side.group_type[matched])


def _count_keys(predicted, reference, matched):
    cells = np.unique(np.concatenate([predicted, reference]))
    counted = (
        np.bincount(np.searchsorted(cells, keys), minlength=len(cells)) for keys in (matched, predicted, reference)
    )
    return {"cell": cells, **dict(zip(("true_positives", "predicted", "reference"), counted, strict=True))}


# The benchmark's grouping heuristic


def group_components(batch, groups):
    """The batch with the ungrouped components of hierarchical entities in groups: see `group_entities`."""
    owner = owners_of_components(groups)
    group_types = [*batch.group_types, *(name for name in groups if name not in batch.group_types)]
    codes = np.array([group_types.index(owner[name]) if name in owner else -1 for name in batch.entity_types], np.int64)
    sides = batch.sides
    if (codes >= 0).any():
        ungrouped = np.array([name == UNGROUPED for name in batch.group_types], bool)
        sides = [_with_groups(side, codes, ungrouped) for side in sides]
    return Batch(batch.documents, *sides, group_types, batch.entity_types, batch.values)


def _with_groups(side, codes, ungrouped):
    group_type = codes[side.entity_type]
    components = np.flatnonzero(ungrouped[side.group_type][side.entity_group] & (group_type >= 0))
    if not len(components):
        return side
    run = side.entity_document[components] * (codes.max() + 1) + group_type[components]
    order = np.argsort(run, kind="stable")
    components, run = components[order], run[order]
    numbers = np.zeros(len(components), np.int64)
    starts = np.flatnonzero(np.concatenate([[True], run[1:] != run[:-1]]))
    for start, end in zip(starts, [*starts[1:], len(run)], strict=True):
        numbers[start:end] = number_groups(side.entity_type[components[start:end]].tolist())
    _, first, group = np.unique(run * (len(run) + 1) + numbers, return_index=True, return_inverse=True)
    entity_group = side.entity_group.copy()
    entity_group[components] = len(side.group_document) + group
    return Side(
        is_invalid=side.is_invalid,
        group_document=np.concatenate([side.group_document, side.entity_document[components[first]]]),
        group_type=np.concatenate([side.group_type, group_type[components[first]]]),
        entity_group=entity_group,
        entity_type=side.entity_type,
        entity_value=side.entity_value,
        confidence=side.confidence,
    )
