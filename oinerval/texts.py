"""Whole texts of tagged tokens: CER, WER and Nerval, which align two texts character by character."""

from bisect import bisect_left, bisect_right
from collections import defaultdict

import numpy as np
import pyarrow as pa
from rapidfuzz.distance import Levenshtein
from rapidfuzz.process import cpdist

from .columns import UNTAGGED
from .spelling import spell_characters, spell_words


class Text:
    """The words of a document in reading order, and where its entities stand in them.

    >>> text = Text([("name", "Jean Dubois"), ("", "est né en"), ("date", "1871")])
    >>> text.text, text.spans
    ('Jean Dubois est né en 1871', [('name', 0, 11), ('date', 22, 26)])
    """

    def __init__(self, entities):
        parts, self.spans, start = [], [], 0
        for entity_type, value in entities:
            if entity_type != UNTAGGED:
                self.spans.append((entity_type, start, start + len(value)))
            if value:
                parts.append(value)
                start += len(value) + 1
        self.text = " ".join(parts)

    def of_category(self, category):
        return " ".join(self.text[start:end] for entity_type, start, end in self.spans if entity_type == category)


def read_texts(batch, side):
    """The text of every document of a side."""
    values = batch.values.take(pa.array(side.entity_value)).to_pylist()
    entities = [[] for _ in range(batch.documents)]
    for document, entity_type, value in zip(side.entity_document.tolist(), side.entity_type, values, strict=True):
        entities[document].append((batch.entity_types[entity_type], value))
    return [Text(found) for found in entities]


def are_texts(batch):
    """Per document, whether both sides are tagged tokens. A side without any entity is an empty text."""
    untagged = [name == UNTAGGED for name in batch.entity_types]
    known = np.ones(batch.documents, bool)
    for side in batch.sides:
        is_untagged = np.array(untagged, bool)[side.entity_type]
        entities = np.bincount(side.entity_document, minlength=batch.documents)
        marks = np.bincount(side.entity_document[is_untagged], minlength=batch.documents)
        known &= (entities == 0) | (marks > 0)
    return known


def edit_texts(predictions, references):
    """Edits and lengths of the reference, in characters and in words, for pairs of texts."""
    values = pa.array([*references, *predictions], pa.string())
    counts = {}
    for unit, spelling in (("character", spell_characters(values)), ("word", spell_words(values))):
        expected, found = np.split(spelling.letters, [len(references)])
        counts[f"{unit}s"] = spelling.length[: len(references)]
        counts[f"{unit}_errors"] = cpdist(
            expected.tolist(), found.tolist(), scorer=Levenshtein.distance, dtype=np.int64
        )
    return counts


def match_in_text(prediction, reference, thresholds):
    """Nerval: category -> number of matched reference entities, for each threshold."""
    matched = defaultdict(lambda: np.zeros(len(thresholds), np.int64))
    if not prediction.spans or not reference.spans:
        return matched
    aligned = _Alignment(reference.text, prediction.text)
    starts, ends = ([span[part] for span in prediction.spans] for part in (1, 2))
    taken = [set() for _ in thresholds]
    for category, start, end in reference.spans:
        first, last = aligned.inside(start, end)
        touched = range(bisect_right(ends, first), bisect_left(starts, last))
        rates = {
            index: Levenshtein.distance(reference.text[start:end], prediction.text[starts[index] : ends[index]])
            / (end - start)
            for index in touched
            if prediction.spans[index][0] == category
        }
        for position, threshold in enumerate(thresholds):
            # A predicted entity confirms one reference entity, not two.
            near = [index for index in rates if rates[index] <= threshold and index not in taken[position]]
            if near:
                taken[position].add(min(near, key=rates.get))
                matched[category][position] += 1
    return matched


class _Alignment:
    """Which characters of a prediction stand for which of a reference."""

    def __init__(self, reference, prediction):
        self.codes = [code for code in Levenshtein.opcodes(reference, prediction) if code.tag != "delete"]
        self.ends = [code.src_end for code in self.codes]

    def inside(self, start, end):
        """First and last (exclusive) predicted character inside a span of the reference; equal where none is."""
        first = last = None
        for code in self.codes[bisect_right(self.ends, start) :]:
            if code.src_start >= end:
                break
            if code.tag == "insert":
                found = code.dest_start, code.dest_end
            else:
                shift = code.dest_start - code.src_start
                found = max(code.src_start, start) + shift, min(code.src_end, end) + shift
            first = found[0] if first is None else first
            last = found[1]
        return (0, 0) if first is None else (first, last)
