"""Bags of entities, of tagged words and of words: what each document has in common on the two sides."""

import numpy as np

from .counts import family
from .matching import identify, match_entities, match_equal
from .text_forms import split_words


def match_bags_of_entities(batch, schema):
    """Positions of predicted and reference entities that are the same, one to one, within each document."""
    return match_entities(batch, identify(batch, schema), *(side.entity_document for side in batch.sides))


def count_bags(batch, schema):
    """The columns of the table of counts."""
    words = [_Words(batch, side) for side in batch.sides]
    types = max(len(batch.entity_types), 1)
    entities = [side.entity_document * types + side.entity_type for side in batch.sides]
    keys = np.union1d(*entities)
    document = keys // types
    tagged = [side.entry * words[0].distinct + side.word for side in words]
    plain_words = [side.entry // types * words[0].distinct + side.word for side in words]
    bags = {
        "be": (entities, match_bags_of_entities(batch, schema)[0]),
        "bt": ([side.entry for side in words], match_equal(*tagged)[0]),
    }
    plain, of_categories = {}, {"documents": np.ones_like(keys)}
    for name, (entries, matched) in bags.items():
        counts = _count(np.searchsorted(keys, entries[0]), np.searchsorted(keys, entries[1]), matched, len(keys))
        of_categories |= {f"{name}_{count}": values for count, values in counts.items()}
        plain[f"{name}_errors"] = _count(entries[0] // types, entries[1] // types, matched, batch.documents)["errors"]
    documents_of_words = [side.entry // types for side in words]
    counts = _count(*documents_of_words, match_equal(*plain_words)[0], batch.documents)
    plain |= {f"b_{count}": values for count, values in counts.items()}
    return plain | {"categories": family(batch.documents, document, keys % types, batch.entity_types, of_categories)}


class _Words:
    """The words of all entities of a side, each with the document and category it stands in."""

    def __init__(self, batch, side):
        codes, numbers = split_words(batch.values)
        self.distinct = int(codes.max(initial=0)) + 1
        number = numbers[side.entity_value]
        first = (np.cumsum(numbers) - numbers)[side.entity_value]
        entity = np.repeat(np.arange(len(number)), number)
        within = np.arange(len(entity)) - np.repeat(np.cumsum(number) - number, number)
        self.word = codes[first[entity] + within]
        types = max(len(batch.entity_types), 1)
        self.entry = (side.entity_document * types + side.entity_type)[entity]


def _count(predicted, reference, matched, number):
    """Sizes of the bags, what they have in common, and the errors, for each of `number` pairs of bags.

    The error rate's numerator is (| |X| - |Y| | + sum of |f_X - f_Y|) / 2; the sum is |X| + |Y| - 2 TP, so that
    the whole is max(|X|, |Y|) - TP.
    """
    predicted_sizes, reference_sizes, common = (
        np.bincount(of, minlength=number) for of in (predicted, reference, predicted[matched])
    )
    return {
        "true_positives": common,
        "predicted": predicted_sizes,
        "reference": reference_sizes,
        "errors": np.maximum(predicted_sizes, reference_sizes) - common,
    }
