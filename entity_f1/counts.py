"""Rows of counts, one per document, and what is computed from their sums.

A table of counts has plain columns (one number per document) and families: lists of {type, counts..}, one
item per type that occurs in the document. Every score is a function of sums of rows, so tables of several
machines are merged by concatenation and intervals are computed without counting again.
"""

import math
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from scipy.sparse import csr_matrix

from .columns import encode_jointly, rank_rows

RESAMPLED_AT_ONCE = 8_000_000
SUMMED = "summed_documents"


def family(documents, document, type_code, type_names, counts):
    """A family column from flat arrays: for each entry its document, the code of its type and its counts.

    >>> family(2, np.array([1]), np.array([0]), ["total"], {"found": np.array([3])}).to_pylist()
    [[], [{'type': 'total', 'found': 3}]]
    """
    order = np.lexsort((type_code, document))
    names = pa.array(type_names, pa.string()).take(pa.array(type_code[order]))
    entries = pa.StructArray.from_arrays(
        [names, *(pa.array(values[order]) for values in counts.values())], ["type", *counts]
    )
    offsets = np.concatenate([[0], np.cumsum(np.bincount(document, minlength=documents))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), entries)


def sum_by(keys, counts):
    """The distinct keys, and for each the sums of its counts."""
    distinct, inverse = np.unique(keys, return_inverse=True)
    return distinct, {name: _sum_by(inverse, values, len(distinct)) for name, values in counts.items()}


@dataclass(frozen=True)
class Totals:
    """Sums of rows. Plain counts have some shape, counts of a family the same and a last axis for the types."""

    documents: np.ndarray
    plain: dict
    families: dict

    def __getitem__(self, name):
        return self.families[name] if name in self.families else self.plain[name]


class Rows:
    """A table of counts as arrays."""

    def __init__(self, table):
        self.is_summed = SUMMED in table.column_names
        if self.is_summed:
            self.documents = pc.sum(table[SUMMED]).as_py() or 0
            table = table.drop_columns([SUMMED])
        else:
            self.documents = len(table)
        self.plain, self.types, self.families = {}, {}, {}
        for name, column in zip(table.column_names, table.columns, strict=True):
            column = column.combine_chunks()
            if not pa.types.is_list(column.type):
                self.plain[name] = column.to_numpy()
            elif column.type.value_type.field(0).name == "type":
                self._add_family(name, column)

    def _add_family(self, name, column):
        entries = column.flatten()
        types, (codes,) = encode_jointly([pc.struct_field(entries, "type")])
        self.types[name] = types.to_pylist()
        names = [field.name for field in column.type.value_type if field.name != "type"]
        counts = {count: pc.struct_field(entries, count).to_numpy() for count in names}
        document = pc.list_parent_indices(column).to_numpy().astype(np.int64)
        self.families[name] = (document, codes, counts)

    def require_one_per_document(self):
        if self.is_summed:
            raise ValueError(
                "these counts are sums over documents; per_document and confidence_level need a row for each document"
            )

    def total(self):
        """All rows together."""
        return Totals(
            np.int64(self.documents),
            {name: _sum(values) for name, values in self.plain.items()},
            {name: self._sum_by_type(name) for name in self.families},
        )

    def per_document(self):
        """Every row for itself."""
        return Totals(
            np.ones(self.documents, np.int64),
            self.plain,
            {name: self._spread(name) for name in self.families},
        )

    def per_type(self, name):
        """All rows together, every type of one family as if it were alone."""
        return {count: values[:, None] for count, values in self._sum_by_type(name).items()}

    def _sum_by_type(self, name):
        _, types, counts = self.families[name]
        number = len(self.types[name])
        return {count: _sum_by(types, values, number) for count, values in counts.items()}

    def _spread(self, name):
        """The counts of a family as matrices, a line per document and a column per type."""
        document, types, counts = self.families[name]
        shape = (self.documents, len(self.types[name]))
        spread = {count: np.zeros(shape, values.dtype) for count, values in counts.items()}
        for count, values in counts.items():
            spread[count][document, types] = values
        return spread

    def resample(self, resamples, seed):
        """Sums over documents drawn with replacement, `resamples` times; a bunch of resamples at a time."""
        matrix, layout = self._matrix()
        multiplicity_of, rows = _distinct_rows(matrix)
        generator = np.random.default_rng(seed)
        at_once = max(1, RESAMPLED_AT_ONCE // max(self.documents, 1))
        for first in range(0, resamples, at_once):
            number = min(at_once, resamples - first)
            weights = np.zeros((number, rows.shape[0]))
            for line in weights:
                drawn = generator.integers(self.documents, size=self.documents)
                line += np.bincount(multiplicity_of[drawn], minlength=rows.shape[0])
            yield self._totals_of((rows.T @ weights.T).T, layout)

    def _matrix(self):
        """All counts as one sparse matrix, a row per document, and where each count stands in it."""
        layout, entries, width = [], [], 0
        for name, values in self.plain.items():
            layout.append((name, None, width, width + 1, values.dtype))
            entries.append((np.arange(self.documents), np.full(self.documents, width), values))
            width += 1
        for name, (document, types, counts) in self.families.items():
            number = len(self.types[name])
            for count, values in counts.items():
                layout.append((name, count, width, width + number, values.dtype))
                entries.append((document, width + types, values))
                width += number
        lines, columns, values = (
            np.concatenate(parts) if parts else np.zeros(0) for parts in zip(*entries, strict=True)
        )
        shape = (self.documents, width)
        return csr_matrix((values.astype(float), (lines, columns)), shape), layout

    def _totals_of(self, sums, layout):
        plain, families = {}, {name: {} for name in self.families}
        for name, count, start, end, dtype in layout:
            values = sums[:, start:end].astype(dtype)
            if count is None:
                plain[name] = values[:, 0]
            else:
                families[name][count] = values
        return Totals(np.full(len(sums), self.documents), plain, families)


def _sum(values):
    """The exact sum, whatever the order."""
    return np.float64(math.fsum(values)) if values.dtype.kind == "f" else values.sum(dtype=np.int64)


def _sum_by(position, values, number):
    if values.dtype.kind != "f":
        return np.rint(np.bincount(position, values, minlength=number)).astype(np.int64)
    order = np.argsort(position, kind="stable")
    parts = np.split(values[order], np.searchsorted(position[order], np.arange(1, number)))
    return np.array([math.fsum(part) for part in parts[:number]], float)


def _distinct_rows(matrix):
    """The distinct rows in the order of their content, and for each document which of them it has.

    What is drawn then depends on what the documents are and not on their order.
    """
    matrix.sort_indices()
    cells = np.stack([matrix.indices.astype(float), matrix.data], axis=1)
    rank = rank_rows(cells.view(np.int64).ravel(), matrix.indptr.astype(np.int64) * 2)
    first = np.unique(rank, return_index=True)[1]
    return np.sort(rank), matrix[first]


def intervals(rows, scores, confidence_level, resamples, seed):
    """Percentile bootstrap over documents: name -> [low, high] for every score."""
    if rows.documents == 0:
        return {}
    bunches = [scores(totals) for totals in rows.resample(resamples, seed)]
    tail = (1 - confidence_level) / 2
    found = {}
    for name in bunches[0]:
        values = np.concatenate([bunch[name] for bunch in bunches])
        if values.dtype.kind == "f":
            found[name] = [float(bound) for bound in np.quantile(values, [tail, 1 - tail])]
    return found


def to_plain(scores):
    """Scores of one set of documents as Python numbers."""
    return {name: value.item() for name, value in scores.items()}


def to_plain_list(scores):
    """Scores of several sets, as a list of dicts of Python numbers."""
    columns = [values.tolist() for values in scores.values()]
    return [dict(zip(scores, row, strict=True)) for row in zip(*columns, strict=True)]


# The formulas that metrics share


def ratio(numerator, denominator, nothing):
    """Share, 1.0 where there was nothing to find and nothing was found, 0.0 for any other 0/0."""
    numerator, denominator = np.asarray(numerator, float), np.asarray(denominator, float)
    share = np.divide(
        numerator, denominator, out=np.zeros(np.broadcast(numerator, denominator).shape), where=denominator > 0
    )
    return np.where(nothing & (denominator == 0), 1.0, share)


def precision_recall_f1(true_positives, predicted, reference):
    nothing = (predicted == 0) & (reference == 0)
    return (
        ratio(true_positives, predicted, nothing),
        ratio(true_positives, reference, nothing),
        ratio(2 * true_positives, predicted + reference, nothing),
    )


def error_rate(errors, references):
    """Errors per reference; over no references, the number of errors."""
    return errors / np.maximum(references, 1)
