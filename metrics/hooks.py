"""What a training loop needs: `compute_metrics` for the Trainers of transformers, without importing them.

A hook counts the documents of each call and scores them when the last has come. It writes no files: every process of
a distributed evaluation gets all documents and computes the same result for itself.
"""

from typing import NamedTuple

import numpy as np
import pyarrow as pa

from .problems import relocate

IGNORED = -100


class Batch(NamedTuple):
    """What the Trainer hands over. Predictions and labels may be tuples, inputs a mapping."""

    predictions: object
    labels: object
    inputs: object


class Hook:
    """A `compute_metrics`. A subclass turns a batch into predicted and reference documents: `_read(batch)`."""

    def __init__(self, metric, prefix, options):
        if not isinstance(prefix, str):
            raise ValueError(f"prefix must be a text, got {type(prefix).__name__}")
        metric.check_options(**options)
        if options.get("per_document"):
            raise ValueError("per_document gives a list, which a training loop cannot log: leave it out")
        self.metric, self.prefix, self.options = metric, prefix, options
        self.reset()

    def __call__(self, evaluated, compute_result=None):
        """Flat scores of everything evaluated; nothing yet where `compute_result` says that more batches come."""
        if compute_result is None:
            self.reset()
        try:
            for batch in split_batches(evaluated):
                self._count(batch)
            return {} if compute_result is False else self._score()
        except Exception:
            self.reset()
            raise

    def reset(self):
        """Forget the batches of an evaluation that was broken off."""
        self._counts, self._documents = [], 0

    def _count(self, batch):
        first = self._documents
        try:
            predictions, references = self._read(batch)
            self._counts.append(self.metric.count(predictions, references, **self.options))
        except ValueError as error:
            raise relocate(error, lambda side, index: (side, first + index)) from None
        self._documents += len(references)

    def _score(self):
        counts = pa.concat_tables(self._counts) if self._counts else self.metric.count([], [], **self.options)
        self.reset()
        return flatten(self.metric.score(counts, **self.options), self.prefix)


def split_batches(evaluated):
    """The batches of an `EvalPrediction`, or of a tuple (predictions, labels, inputs).

    One, unless the Trainer was told not to concatenate them (`eval_do_concat_batches=False`).
    """
    if hasattr(evaluated, "label_ids"):
        batch = Batch(evaluated.predictions, evaluated.label_ids, getattr(evaluated, "inputs", None))
    else:
        batch = Batch(*[*evaluated, None][:3])
    if batch.labels is None:
        raise ValueError("there are no labels: the evaluation data needs them")
    if not isinstance(batch.predictions, list) or not isinstance(batch.labels, list):
        return [batch]
    inputs = batch.inputs if batch.inputs is not None else [None] * len(batch.labels)
    return [Batch(*parts) for parts in zip(batch.predictions, batch.labels, inputs, strict=True)]


def first_of(arrays):
    """The first of a tuple of arrays, as models return it that also return their hidden states."""
    return to_numpy(arrays[0] if isinstance(arrays, tuple | list) else arrays)


def second_of(arrays):
    return to_numpy(arrays[1]) if isinstance(arrays, tuple | list) and len(arrays) > 1 else None


def to_numpy(array):
    """An array of numpy, of a tensor on any device too."""
    if hasattr(array, "detach"):
        array = array.detach().cpu()
        array = array.float() if "bfloat16" in str(array.dtype) else array
        return array.numpy()
    return np.asarray(array)


def is_whole(array):
    return array.dtype.kind in "iu"


def flatten(result, prefix=""):
    """Scores as one level of numbers, which loggers and `metric_for_best_model` take.

    Tables become paths; lists (per_document, curve) and texts are left out.

    >>> flatten({"f1": 0.5, "per_type": {"total": {"f1": 1.0}}, "intervals": {"f1": [0.4, 0.6]}, "curve": [{}]}, "my_")
    {'my_f1': 0.5, 'my_per_type/total/f1': 1.0, 'my_intervals/f1/low': 0.4, 'my_intervals/f1/high': 0.6}
    """
    return {prefix + "/".join(path): number for path, number in _numbers(result, ())}


def _numbers(value, path):
    if isinstance(value, dict):
        for name, part in value.items():
            yield from _numbers(part, (*path, name))
    elif path[0] == "intervals" and isinstance(value, list):
        yield from zip([(*path, "low"), (*path, "high")], value, strict=True)
    elif isinstance(value, int | float):
        yield path, value
