"""What the metrics of this module count in each document, and in each of its categories."""

import functools

import numpy as np

from .assignment import assign
from .blocks import Costs, block_keys, find_blocks
from .columns import without_untagged_text
from .counts import family
from .matching import identify
from .sequences import edit_sequences, rank_within
from .texts import are_texts, edit_texts, match_in_text, read_texts

CELLS_AT_ONCE = 2_000_000
TEXT_COUNTS = ("characters", "character_errors", "words", "word_errors")


def oinerval_column(threshold):
    return f"oinerval@{float(threshold)!r}"


def nerval_column(threshold):
    return f"nerval@{float(threshold)!r}"


class Entries:
    """The categories of all documents of a batch: one entry for each that has entities on either side."""

    def __init__(self, batch):
        self.batch = batch
        self.types = max(len(batch.entity_types), 1)
        keys = block_keys(batch)
        self.keys = np.union1d(*keys)
        self.document = self.keys // self.types
        self.predicted, self.reference = (
            np.bincount(np.searchsorted(self.keys, of), minlength=len(self.keys)) for of in keys
        )

    def places(self, keys):
        return np.searchsorted(self.keys, keys)

    def per_document(self, counts):
        return np.bincount(self.document, counts, minlength=self.batch.documents).astype(float)

    def to_family(self, counts):
        return family(self.batch.documents, self.document, self.keys % self.types, self.batch.entity_types, counts)


def count_errors(batch, schema, thresholds, order_dependent):
    """The columns of the table of counts."""
    entities = without_untagged_text(batch)
    entries = Entries(entities)
    plain, of_categories = _count_entities(entities, entries, schema, thresholds, order_dependent)
    if order_dependent:
        plain_text, text_of_categories = _count_texts(batch, entries, thresholds)
        plain |= plain_text
        of_categories |= text_of_categories
    counts = {
        "documents": np.ones_like(entries.keys),
        "predicted": entries.predicted,
        "reference": entries.reference,
        **of_categories,
    }
    return plain | {"categories": entries.to_family(counts)}


def _count_entities(batch, entries, schema, thresholds, order_dependent):
    """Counts per document and per category of all metrics that compare entities."""
    identity = identify(batch, schema)
    blocks = find_blocks(batch, identity)
    costs = Costs(batch, blocks, identity)
    found = {oinerval_column(threshold): [] for threshold in thresholds}
    assigned = {"oiecer_errors": [], "oiewer_errors": []}
    documents = entries.per_document(entries.reference), entries.per_document(entries.predicted)
    fewer, more = (of(entries.predicted, entries.reference) for of in (np.minimum, np.maximum))
    sequences = {
        name: (np.maximum(*documents), more.astype(float)) for name in ("ecer_errors", "ewer_errors") if order_dependent
    }
    for some in _bunches(blocks, entries.types):
        bunch = blocks.select(some)
        for unit, letters in (("c", costs.characters), ("w", costs.words)):
            rates_of = functools.partial(costs.error_rates, letters=letters)
            cost, matches = assign(bunch, rates_of, thresholds if unit == "c" else ())
            assigned[f"oie{unit}er_errors"].append(cost)
            if order_dependent:
                _edit_in_order(batch, entries, bunch, rates_of(bunch), *sequences[f"e{unit}er_errors"])
            for threshold, matched in zip(thresholds, matches, strict=False):
                found[oinerval_column(threshold)].append(matched)
    places = entries.places(blocks.key)
    plain, of_categories = {}, {}
    for name, costs_of_blocks in assigned.items():
        cost = np.zeros(len(entries.keys))
        cost[places] = _concatenate(costs_of_blocks)
        # Entities without a partner of their category are paired across categories, or with nothing: 1 each.
        plain[name] = entries.per_document(cost) + (np.maximum(*documents) - entries.per_document(fewer))
        of_categories[name] = cost + (more - fewer)
    for name, matches in found.items():
        of_categories[name] = np.zeros(len(entries.keys), np.int64)
        of_categories[name][places] = _concatenate(matches)
    for name, (per_document, per_category) in sequences.items():
        plain[name], of_categories[name] = per_document, per_category
    return plain, of_categories


def _concatenate(parts):
    return np.concatenate([np.zeros(0), *parts])


def _bunches(blocks, types):
    """Blocks of whole documents, so many at a time that their costs fit in memory."""
    cells = np.cumsum(blocks.cells)
    document = blocks.key // types
    is_first = np.ones(len(document), bool)
    is_first[1:] = document[1:] != document[:-1]
    bunch = (cells // CELLS_AT_ONCE)[is_first][np.cumsum(is_first) - 1]
    return np.split(np.arange(len(document)), np.flatnonzero(np.diff(bunch)) + 1)


def _edit_in_order(batch, entries, blocks, rates, per_document, per_category):
    """Writes the edit distances of whole documents, and of each category alone, into the given arrays."""
    predictions, references = batch.sides
    _, row, column = blocks.locate()
    expected, found = blocks.rows.entity[row], blocks.columns.entity[column]
    predicted_keys, reference_keys = block_keys(batch)
    levels = (
        (per_document, references.entity_document, predictions.entity_document),
        (per_category, entries.places(reference_keys), entries.places(predicted_keys)),
    )
    for totals, of_reference, of_prediction in levels:
        number = len(totals)
        lengths = np.bincount(of_reference, minlength=number), np.bincount(of_prediction, minlength=number)
        cells = of_reference[expected], rank_within(of_reference)[expected], rank_within(of_prediction)[found], rates
        is_judged = np.zeros(number, bool)
        is_judged[cells[0]] = True
        totals[is_judged] = edit_sequences(lengths, *cells)[is_judged]


def _count_texts(batch, entries, thresholds):
    """Counts of the metrics that compare whole texts; 0 where a document is not tagged tokens."""
    is_text = are_texts(batch)
    predictions, references = (read_texts(batch, side) for side in batch.sides)
    pairs = list(zip(predictions, references, strict=True))
    plain = edit_texts([text.text for text, _ in pairs], [text.text for _, text in pairs])
    in_category = [
        [text.of_category(batch.entity_types[key % entries.types]) for text in pairs[document]]
        for key, document in zip(entries.keys.tolist(), entries.document.tolist(), strict=True)
    ]
    of_categories = edit_texts([found for found, _ in in_category], [expected for _, expected in in_category])
    matches = np.zeros((len(thresholds), len(entries.keys)), np.int64)
    place = {key: position for position, key in enumerate(entries.keys.tolist())}
    for document in np.flatnonzero(is_text).tolist():
        for category, numbers in match_in_text(*pairs[document], thresholds).items():
            matches[:, place[document * entries.types + batch.entity_types.index(category)]] = numbers
    of_categories |= {nerval_column(threshold): matches[row] for row, threshold in enumerate(thresholds)}
    plain = {name: np.where(is_text, values, 0) for name, values in plain.items()}
    return plain | {"not_tagged": (~is_text).astype(np.int64)}, of_categories
